use crate::{
    call_log::Entry,
    connection::{Response, Silence},
    request::{ARTICLE, TOKEN},
    site::{Site, Style},
    targets::server::{Framework, Server},
    text::{Situation, situations, text},
};

/// A request that the server's HTTP parser checks before any code of ours runs, so that servers
/// differ. Where more than one fate is allowed, it is the same refusal with or without its answer.
pub(crate) struct Row {
    pub(crate) situation: &'static str,
    text: String,
    end: End,
    axum: Vec<Fate>,
    actix_web: Vec<Fate>,
    tower: Vec<Fate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// A refusal with this status.
    Status(u16),
    /// Closed without an answer.
    Closed,
    /// Let in as the delivery that it is meant to be.
    LetIn,
}

/// What the sender does after the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// `odd`: each server has a mind of its own.
    Waits,
    /// `cut`: it ends the stream. The request is a part of one.
    Stops,
    /// `malformed`: it sends another delivery, which must be gone with the connection: where a request ends is not
    /// known, or another server in front may think otherwise.
    Smuggles,
}

/// A section says the end, and what comes of its requests in axum, actix-web and tower, or in all of them: `400/closed`
/// if it does not say.
pub(crate) fn rows() -> Vec<Row> {
    let topics = [
        include_str!("chunks.txt"),
        include_str!("lengths.txt"),
        include_str!("heads.txt"),
        include_str!("first_lines.txt"),
        include_str!("codings.txt"),
    ];
    topics.into_iter().flat_map(situations).map(|situation| Row::read(&situation)).collect()
}

impl Row {
    fn read(situation: &Situation) -> Self {
        let words: Vec<_> = situation.fate.split(' ').collect();
        let end = match words[0] {
            "odd" => End::Waits,
            "cut" => End::Stops,
            "malformed" => End::Smuggles,
            other => panic!("{}: nobody knows {other}", situation.name),
        };
        let fates = |at| {
            let fates = words[1..].get(at).or(words[1..].first()).unwrap_or(&"400/closed");
            fates.split('/').map(Fate::read).collect()
        };
        let (situation, text) = (situation.name, text(&situation.cells[0]));
        Self { situation, text, end, axum: fates(0), actix_web: fates(1), tower: fates(2) }
    }

    fn request(&self, path: &str) -> Vec<u8> {
        filled(&self.text, path, "job_1")
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let mut bytes = self.request(path);
        if self.end == End::Smuggles {
            bytes.extend(filled("{start}{sized}\r\n{article}", path, "job_smuggled"));
        }
        bytes
    }
}

impl Fate {
    fn read(word: &str) -> Self {
        match word {
            "let_in" => Self::LetIn,
            "closed" => Self::Closed,
            status => Self::Status(status.parse().expect("a status is a number")),
        }
    }
}

/// The braces of a row, filled in.
fn filled(text: &str, path: &str, job_id: &str) -> Vec<u8> {
    let article = ARTICLE.replace("job_1", job_id);
    text.replace("{start}", "{line}Host: receiver.test\r\n{delivery}")
        .replace("{line}", "POST {path} HTTP/1.1\r\n")
        .replace("{delivery}", "Authorization: {token}\r\n{service}")
        .replace("{service}", "Content-Type: application/json\r\nX-Service-Event: article.complete\r\nX-Service-Job-Id: {job_id}\r\n")
        .replace("{sized}", "Content-Length: {length}\r\n")
        .replace("{chunked}", "Transfer-Encoding: chunked\r\n")
        .replace("{chunks}", "{size}\r\n{article}\r\n0\r\n\r\n")
        .replace("{path}", path)
        .replace("{token}", TOKEN)
        .replace("{job_id}", job_id)
        .replace("{length}", &article.len().to_string())
        .replace("{size}", &format!("{:x}", article.len()))
        .replace("{article}", &article)
        .into_bytes()
}

#[test]
fn no_malformed_request_reaches_the_application_and_the_next_delivery_is_stored() {
    let rows = rows();
    let mut disagreements = Vec::new();
    for framework in Framework::ALL {
        let server = framework.serve_all();
        for style in framework.styles() {
            let found = rows.iter().filter_map(|row| disagreement(&server, style, row));
            disagreements.extend(found);
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

fn disagreement(server: &Server, style: Style, row: &Row) -> Option<String> {
    let mut connection = server.connect();
    connection.send(row.bytes(&Site::Default.path(style)));
    if row.end == End::Stops {
        connection.finish_sending();
    }
    let answer = connection.answer_to("POST");
    let entries = server.ledger.take();
    let fate = fate(&answer, &entries);
    // A server that has refused a request may still be dropping what follows it.
    connection.finish_sending();
    let is_last = row.end == End::Waits || connection.is_closed();
    let next = server.stores_on(&mut server.connect());
    let allowed = match server.framework {
        Framework::Axum => &row.axum,
        Framework::Tower => &row.tower,
        Framework::ActixWeb => &row.actix_web,
    };
    let is_allowed = fate.is_ok_and(|fate| allowed.contains(&fate));
    let situation = row.situation;
    (!is_allowed || !is_last || !next).then(|| {
        format!(
            "{:?}, {style:?}: {situation}\n  allowed {allowed:?}\n  found {fate:?}, {answer:?}, \
             {entries:?}, last on its connection: {is_last}, next stored: {next}",
            server.framework
        )
    })
}

/// What came of it; an error when the application did not see what the answer says.
fn fate(answer: &Result<Response, Silence>, entries: &[Entry]) -> Result<Fate, &'static str> {
    let is_job_1 = |entry: &Entry| match entry {
        Entry::Accepted(accepted) => accepted.job_id == "job_1" && accepted.body == ARTICLE,
        Entry::Handled { job_id } => job_id == "job_1",
        Entry::Finished | Entry::Refused { .. } | Entry::Kept { .. } => false,
    };
    let work: Vec<_> = entries.iter().filter(|entry| !entry.is_refusal()).collect();
    match (answer, &work[..]) {
        (Ok(answer), [entry]) if answer.status < 300 && is_job_1(entry) => Ok(Fate::LetIn),
        (Ok(answer), []) if answer.status >= 300 => Ok(Fate::Status(answer.status)),
        (Err(Silence::Closed | Silence::Torn), []) => Ok(Fate::Closed),
        (Err(Silence::Late), _) => Err("no answer"),
        _ => Err("the answer is not what the application was asked"),
    }
}
