//! The table: every situation in which a request can reach a receiver, and what it is answered.
//!
//! A section says `let_in`, `for_sinks` (a sink takes it, the extractor answers by itself), `refused`, `kept` (the
//! same, and the sink is given the body), `stranger` (401, and the sink hears nothing) or `not_post`. What a situation does
//! not say is checked all the same: no other header, no other entry of the application, a connection that is usable unless
//! it is `closing`. [`changed`] says what the cells do to the delivery of an article.

use crate::{
    answers::{METHOD_NOT_ALLOWED, ROUTED_AWAY, UNAUTHORIZED, named},
    call_log::Entry,
    request::{ARTICLE, Request, delivery},
    row::{Outcome, Promise, Reply, Report, Row, for_sinks, kept, let_in, refused},
    site::Site,
    text::{Situation, bytes, situations, text},
};

const AUTHORIZATIONS: [&str; 2] =
    [include_str!("table/tokens.txt"), include_str!("table/forgeries.txt")];

/// All that comes before the body, but `Authorization`.
const HEADS: [&str; 8] = [
    include_str!("table/methods.txt"),
    include_str!("table/content_types.txt"),
    include_str!("table/encodings.txt"),
    include_str!("table/service_headers.txt"),
    include_str!("table/job_ids_in_headers.txt"),
    include_str!("table/events.txt"),
    include_str!("table/lengths.txt"),
    include_str!("table/check_order.txt"),
];

const BODIES: [&str; 11] = [
    include_str!("table/json.txt"),
    include_str!("table/formats.txt"),
    include_str!("table/numbers.txt"),
    include_str!("table/texts.txt"),
    include_str!("table/escapes.txt"),
    include_str!("table/utf8.txt"),
    include_str!("table/keys.txt"),
    include_str!("table/depth.txt"),
    include_str!("table/job_ids_in_bodies.txt"),
    include_str!("table/results.txt"),
    include_str!("table/kinds.txt"),
];

const OTHERS: [&str; 2] =
    [include_str!("table/capabilities.txt"), include_str!("table/replies.txt")];

pub(crate) fn rows() -> Vec<Row> {
    [authorizations(), heads(), bodies(), read(&OTHERS)].concat()
}

pub(crate) fn authorizations() -> Vec<Row> {
    read(&AUTHORIZATIONS)
}

pub(crate) fn heads() -> Vec<Row> {
    read(&HEADS)
}

pub(crate) fn bodies() -> Vec<Row> {
    read(&BODIES)
}

fn read(topics: &[&'static str]) -> Vec<Row> {
    topics.iter().flat_map(|topic| situations(topic)).map(row).collect()
}

fn row(situation: Situation) -> Row {
    let Situation { name, fate, cells } = situation;
    let is_expected = |cell: &&String| EXPECTED.contains(&word(cell).0);
    let (expected, changes): (Vec<_>, Vec<_>) = cells.iter().partition(is_expected);
    let request = changes.into_iter().fold(delivery(), |request, cell| changed(request, cell));
    let (fate, report) = fate.split_once(" of ").unwrap_or((fate, ""));
    let report = match report {
        "" => Report::Nothing,
        "no job" => Report::NoJob,
        job => Report::Job(job),
    };
    let row = match word(fate) {
        ("let_in", _) => let_in(name, request),
        ("for_sinks", answer) => for_sinks(name, request, named(answer)),
        ("refused", answer) => refused(name, request, named(answer), report),
        ("kept", answer) => kept(name, request, named(answer), report),
        ("stranger", _) => refused(name, request, UNAUTHORIZED, report),
        ("not_post", _) => not_post(name, request),
        _ => panic!("{name}: nobody knows {fate}"),
    };
    expected.into_iter().fold(row, |row, cell| expecting(row, cell))
}

/// A word and what follows it.
fn word(cell: &str) -> (&str, &str) {
    cell.split_once(' ').unwrap_or((cell, ""))
}

/// What a cell does to a request. A cell that is none of these is a header: set, added with `+`, or removed with `-`.
fn changed(request: Request, cell: &str) -> Request {
    if let Some((count, cell)) = cell.split_once(" × ").filter(|(_, cell)| cell.starts_with('+')) {
        let count: usize = count.parse().expect("a number of headers");
        return (0..count).fold(request, |request, _| changed(request, cell));
    }
    let (word, value) = word(cell);
    let number = || value.parse().expect("a number");
    match word {
        "method" => request.method(&text(value)),
        "segment" => request.segment(&text(value)),
        "body" => request.body(bytes(value)),
        // One more field of the body, or of the article.
        "field" => request
            .body([&ARTICLE.as_bytes()[..ARTICLE.len() - 1], b",", &bytes(value), b"}"].concat()),
        "in_article" => request
            .body([&ARTICLE.as_bytes()[..ARTICLE.len() - 2], b",", &bytes(value), b"}}"].concat()),
        // A field that makes the body as long as this.
        "padded" => {
            let padding = number() - ARTICLE.len() - r#","pad":"""#.len();
            changed(request, &["field \"pad\":\"", &"x".repeat(padding), "\""].concat())
        }
        "replace" => {
            let (what, by) = value.split_once(" =>").expect("an arrow");
            let (before, behind) = ARTICLE.split_once(what).expect("a part of the article");
            request.body([before.as_bytes(), &bytes(by.trim_start()), behind.as_bytes()].concat())
        }
        "bodyless" => request.bodyless(),
        "chunked" => request.chunked(number()),
        "unsent" => request.unsent(number() as u64),
        "stalled" => request.stalled(number()),
        "stalled_in_chunks" => request.stalled_in_chunks(),
        "short" => request.short(number()),
        "unfinished" => request.unfinished(),
        _ => match cell.split_once(':') {
            Some((name, value)) => match name.strip_prefix('+') {
                Some(name) => request.and(name, bytes(value.trim_start())),
                None => request.with(name, bytes(value.trim_start())),
            },
            None => request.without(cell.strip_prefix('-').expect("a cell has a meaning")),
        },
    }
}

const EXPECTED: [&str; 9] =
    ["at", "closing", "job", "event", "target", "intent", "replied", "extract", "layer"];

/// What a cell says of where the request goes, and of what comes of it.
fn expecting(row: Row, cell: &str) -> Row {
    let (word, value) = word(cell);
    let value = text(value);
    match word {
        "at" => {
            let site = Site::ALL.into_iter().find(|site| format!("{site:?}") == value);
            row.at(site.expect("a site of this name"))
        }
        "closing" => row.closing(),
        "job" => row.job(&value),
        "event" => row.event(&value),
        "target" => row.target(&value),
        "intent" => row.intent(&value),
        "replied" => row.replied(named(&value)),
        "extract" => row.extract(handled(&value)),
        _ => row.layer(handled(&value)),
    }
}

/// The handler runs, and this comes of it.
fn handled(what: &str) -> Promise {
    let of = |reply| Outcome::of(reply).and(Entry::Handled { job_id: "job_1".into() });
    match what {
        "nothing" => Promise::Nothing,
        "cut" => Promise::Framework { axum: of(Reply::Cut), actix_web: of(Reply::Cut) },
        answer => Promise::Everywhere(of(Reply::Answer(named(answer)))),
    }
}

/// In extractor style the framework routes, so that the receiver never sees the request.
fn not_post(situation: &'static str, request: Request) -> Row {
    let axum = Outcome::of(ROUTED_AWAY);
    // actix-web reads nothing of a body that no handler asked for.
    let actix_web = Outcome { closes: !request.body.is_empty(), ..axum.clone() };
    refused(situation, request, METHOD_NOT_ALLOWED, Report::Nothing)
        .extract(Promise::Framework { axum, actix_web })
}
