//! The table: every situation in which a request can reach a receiver, and what it is answered.
//!
//! A section says `let_in`, `for_sinks` (a sink takes it, the extractor answers by itself), `refused`, `kept` (the
//! same, and the sink is given the body), `stranger` (401, and the sink hears nothing) or `not_post`. What a situation does
//! not say is checked all the same: no other header, no other entry of the application, a connection that is usable unless
//! it is `closing`. [`changed`] says what the cells do to the delivery of an article.

use crate::{
    answers::{METHOD_NOT_ALLOWED, STORED, UNAUTHORIZED, named},
    request::{ARTICLE, Request, delivery},
    row::{Handler, Row, Told},
    site::Site,
    text::{Situation, bytes, situations, text},
};

const TOPICS: [&str; 23] = [
    include_str!("table/tokens.txt"),
    include_str!("table/forgeries.txt"),
    // All that comes before the body, but `Authorization`.
    include_str!("table/methods.txt"),
    include_str!("table/content_types.txt"),
    include_str!("table/encodings.txt"),
    include_str!("table/service_headers.txt"),
    include_str!("table/job_ids_in_headers.txt"),
    include_str!("table/events.txt"),
    include_str!("table/lengths.txt"),
    include_str!("table/check_order.txt"),
    // Bodies.
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
    include_str!("table/capabilities.txt"),
    include_str!("table/replies.txt"),
];

pub(crate) fn rows() -> Vec<Row> {
    TOPICS.into_iter().flat_map(situations).map(row).collect()
}

fn row(situation: Situation) -> Row {
    let Situation { name, fate, cells } = situation;
    let (fate, job) = match fate.split_once(" of ") {
        Some((fate, "no job")) => (fate, Some(None)),
        Some((fate, job)) => (fate, Some(Some(job.to_owned()))),
        None => (fate, None),
    };
    let refused = |answer, told| (answer, told, Handler::IsSpared(answer));
    let (answer, told, handler) = match word(fate) {
        ("let_in", _) => (STORED, Told::Delivery, Handler::Returns),
        ("for_sinks", answer) => (STORED, Told::Delivery, Handler::IsSpared(named(answer))),
        ("refused", answer) => refused(named(answer), job.map_or(Told::Nothing, Told::Refusal)),
        ("kept", answer) => refused(named(answer), Told::RefusedBody(job.flatten())),
        ("stranger", _) => refused(UNAUTHORIZED, Told::Nothing),
        // In extractor style the framework routes, so that the receiver never sees the request.
        ("not_post", _) => (METHOD_NOT_ALLOWED, Told::Nothing, Handler::IsNotFound),
        _ => panic!("{name}: nobody knows {fate}"),
    };
    let mut row = Row {
        situation: name,
        site: Site::Default,
        request: delivery(),
        answer,
        told,
        handler,
        layered: None,
        closes: false,
        job: "job_1".into(),
        event: "article.complete".into(),
        target: "default".into(),
        intent: None,
    };
    for cell in &cells {
        if !expecting(&mut row, cell) {
            row.request = changed(row.request, cell);
        }
    }
    row
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

/// Whether the cell says where the request goes, or what comes of it.
fn expecting(row: &mut Row, cell: &str) -> bool {
    let (word, value) = word(cell);
    match word {
        "at" => {
            let site = Site::ALL.into_iter().find(|site| format!("{site:?}") == value);
            row.site = site.expect("a site of this name");
        }
        "closing" => row.closes = true,
        "job" => row.job = text(value),
        "event" => row.event = text(value),
        "target" => row.target = text(value),
        "intent" => row.intent = Some(text(value)),
        "replied" => row.answer = named(value),
        "extract" => row.handler = handler(value),
        "layer" => row.layered = Some(handler(value)),
        _ => return false,
    }
    true
}

fn handler(what: &str) -> Handler {
    match what {
        "nothing" => Handler::NotMeant,
        "cut" => Handler::IsCut,
        answer => Handler::Answers(named(answer)),
    }
}
