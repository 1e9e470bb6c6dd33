use super::{chunks, heads, lengths};
use crate::{
    call_log::Entry,
    connection::{Response, Silence},
    print,
    request::{ARTICLE, TOKEN},
    site::{Site, Style},
    targets::server::{Framework, Server},
};

/// A request that the server's HTTP parser judges, before anything of ours runs, so that servers
/// differ. Where more than one fate is allowed, it is the same refusal with or without its answer.
#[derive(Clone)]
pub(super) struct Row {
    situation: &'static str,
    text: String,
    end: End,
    axum: &'static [Fate],
    actix_web: &'static [Fate],
    tower: &'static [Fate],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
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
    Waits,
    /// Ends the stream: the request is a part of one.
    Stops,
    /// Sends another delivery, which must be gone with the connection: where a request ends is not
    /// known, or another server in front may think otherwise.
    Smuggles,
}

const REFUSED: &[Fate] = &[Fate::Status(400), Fate::Closed];

pub(super) const LET_IN: &[Fate] = &[Fate::LetIn];

/// Refused by both servers, and what follows on the connection is never looked at.
pub(super) fn malformed(situation: &'static str, text: impl Into<String>) -> Row {
    Row { end: End::Smuggles, ..odd(situation, text, REFUSED, REFUSED) }
}

/// Malformed, and all that was sent.
pub(super) fn cut(situation: &'static str, text: impl Into<String>) -> Row {
    Row { end: End::Stops, ..malformed(situation, text) }
}

/// Unusual: each server has a mind of its own.
pub(super) fn odd(
    situation: &'static str,
    text: impl Into<String>,
    axum: &'static [Fate],
    actix_web: &'static [Fate],
) -> Row {
    let text = text.into();
    // Both stand on hyper.
    let tower = axum;
    Row { situation, text, end: End::Waits, axum, actix_web, tower }
}

impl Row {
    /// hyper, under axum and tower, takes it all the same, and closes the connection behind it.
    pub(super) fn but_axum_lets_it_in(self) -> Self {
        Self { axum: LET_IN, tower: LET_IN, ..self }
    }

    /// Our server asks hyper's heads for what hyper leaves to the application.
    pub(super) fn but_our_server_says(self, tower: &'static [Fate]) -> Self {
        Self { tower, ..self }
    }

    pub(super) fn situation(&self) -> &'static str {
        self.situation
    }

    /// Whether any server refuses it.
    pub(super) fn is_refused(&self) -> bool {
        self.axum != LET_IN || self.actix_web != LET_IN
    }

    fn bytes(&self, path: &str) -> Vec<u8> {
        let mut bytes = filled(&self.text, path, "job_1");
        if self.end == End::Smuggles {
            bytes.extend(filled("{start}{sized}\r\n{article}", path, "job_smuggled"));
        }
        bytes
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

pub(super) fn rows() -> Vec<Row> {
    [chunks::rows(), lengths::rows(), heads::rows()].concat()
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
    let rows = rows.len();
    print(&format!(
        "conformance: {rows} rows of the HTTP parsers x axum, actix-web, tower: sink + extractor or layer"
    ));
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
        Framework::Axum => row.axum,
        Framework::Tower => row.tower,
        Framework::ActixWeb => row.actix_web,
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
