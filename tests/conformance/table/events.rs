use crate::{
    answers::{Answer, BAD_REQUEST, IGNORED, INVALID_JOB_ID, MALFORMED, MISMATCH, UNPROCESSABLE},
    request::{ARTICLE, Request, delivery, delivery_of},
    row::{
        Row, Told,
        Told::{Job, NoJob},
        for_sinks, kept, refused,
    },
    site::Site,
};

const TWICE: &str = "article.complete,article.complete";

/// A retry cannot help with an unknown event. A sink keeps it; an extractor, which has no handler for it, ignores it.
pub(super) fn rows() -> Vec<Row> {
    let about = |event| delivery().with("X-Service-Event", event);
    let updated = || about("article.updated");
    let long = "x".repeat(255);
    let no_job = || updated().without("X-Service-Job-Id");
    let no_id = no_job().body(ARTICLE.replacen(r#""job_id":"job_1","#, "", 1));
    let repeats = updated().body(r#"{"a":0,"a":0}"#);
    let too_deep = updated().body([r#"{"a":"#, &"[".repeat(64), &"]".repeat(64), "}"].concat());
    let bad = |situation, request| refused(situation, request, BAD_REQUEST, Job("job_1"));
    vec![
        unknown("a new event", updated()).event("article.updated"),
        unknown("the event in another case", about("Article.Complete")).event("Article.Complete"),
        unknown("the event and a comma", about("article.complete,")).event("article.complete,"),
        unknown("the event in quotes", about(r#""article.complete""#))
            .event(r#""article.complete""#),
        unknown("the event twice in one header", about(TWICE)).event(TWICE),
        unknown("the beginning of the event", about("article")).event("article"),
        unknown("an event that looks like markup", about("<b>&'e'</b>")).event("<b>&'e'</b>"),
        unknown("an event that looks like a path", about("../../etc")).event("../../etc"),
        unknown("an event of one byte", about("*")).event("*"),
        unknown("a new event that has no id in its body", updated().body("{}"))
            .event("article.updated"),
        unknown("an event of 255 bytes", about(&long)).event(&long),
        unknown("a new event that is no article", updated().body(r#"{"job_id":"job_1"}"#))
            .event("article.updated"),
        unknown("a new event about the job of the body", no_job()).event("article.updated"),
        for_sinks("a new event that shall be refused", updated(), UNPROCESSABLE)
            .event("article.updated")
            .at(Site::RefusesUnknownEvents),
        ping("a ping", no_job().body(r#"{"zen":"Design for failure."}"#)),
        ping("a ping to a receiver that refuses unknown events", no_job().body("{}"))
            .at(Site::RefusesUnknownEvents),
        refused("a ping, malformed", no_job().body("{"), MALFORMED, NoJob),
        refused("a new event without a job, and an article", no_id, INVALID_JOB_ID, NoJob),
        refused(
            "a ping with a job id that is null",
            no_job().body(r#"{"job_id":null}"#),
            INVALID_JOB_ID,
            NoJob,
        ),
        of_updated("a new event, malformed", updated().body("{"), MALFORMED, Job("job_1")),
        of_updated(
            "a new event, malformed, that would be refused anyway",
            updated().body("{"),
            MALFORMED,
            Job("job_1"),
        )
        .at(Site::RefusesUnknownEvents),
        of_updated(
            "a new event of two jobs",
            updated().with("X-Service-Job-Id", "job_2"),
            MISMATCH,
            NoJob,
        )
        .job("job_2"),
        bad("the event is empty", about("")),
        bad("the event is white space", about(" \t ")),
        bad("a tab in the event", about("article\tcomplete")),
        bad("two events in one header", about("article.complete, article.complete")),
        bad("a no-break space in the event", about("article\u{a0}complete")),
        bad("a space of no width in the event", about("article.\u{200b}complete")),
        bad("a full stop of another script in the event", about("article\u{3002}complete")),
        bad("an event of 12 KB", about(&"x".repeat(12_000))),
        of_updated(
            "a new event about an illegal job",
            updated().body(r#"{"job_id":7}"#),
            INVALID_JOB_ID,
            Job("job_1"),
        ),
        of_updated("a new event that repeats a key", repeats, MALFORMED, Job("job_1")),
        of_updated("a new event that is too deep", too_deep, MALFORMED, Job("job_1")),
        bad("white space in the event", about("article complete")),
        bad("an event of 256 bytes", about(&(long.clone() + "x"))),
        bad("an event that is not ASCII", about("article.vollständig")),
        bad(
            "an empty event, and nothing in the body",
            delivery_of("{}").with("X-Service-Event", ""),
        ),
    ]
}

/// It names neither a job nor an article, so that there is nothing to keep.
fn ping(situation: &'static str, request: Request) -> Row {
    refused(situation, request, IGNORED, NoJob)
}

/// The body of another event is kept as that of its event.
fn of_updated(situation: &'static str, request: Request, answer: Answer, told: Told) -> Row {
    kept(situation, request, answer, told).event("article.updated")
}

fn unknown(situation: &'static str, request: Request) -> Row {
    for_sinks(situation, request, IGNORED)
}
