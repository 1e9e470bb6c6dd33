use crate::{
    answers::{INVALID_JOB_ID, MISMATCH, UNPROCESSABLE},
    request::{ARTICLE, Request, delivery},
    row::{
        Row,
        Told::{Job, NoJob},
        for_sinks, refused,
    },
};

pub(super) fn rows() -> Vec<Row> {
    [invalid(), missing(), mismatched()].concat()
}

/// An article whose job id is this JSON value.
fn with_id(json: &str) -> Request {
    delivery().body(ARTICLE.replacen(r#""job_1""#, json, 1))
}

fn invalid() -> Vec<Row> {
    let id =
        |situation, json: &str| refused(situation, with_id(json), INVALID_JOB_ID, Job("job_1"));
    let long = |unit: &str, count| ["\"", &unit.repeat(count), "\""].concat();
    vec![
        id("the id is a number", "1"),
        id("the id is null", "null"),
        id("the id is true", "true"),
        id("the id is an array", r#"["job_1"]"#),
        id("the id is an object", r#"{"job_id":"job_1"}"#),
        id("the id is empty", r#""""#),
        id("the id is a dot", r#"".""#),
        id("the id is two dots", r#""..""#),
        id("the id is two dots, escaped", r#""\u002e\u002e""#),
        id("the id has 256 bytes", &long("x", 256)),
        id("the id has 256 bytes of fewer characters", &long("ż", 128)),
        id("the id has white space around it", r#"" job_1 ""#),
        id("a space in the id", r#""job 1""#),
        id("a line break in the id", r#""job_1\n""#),
        id("a zero character in the id", r#""job_1\u0000""#),
        id("a delete character in the id", r#""job_1\u007f""#),
        id("a next-line character in the id", r#""job_1\u0085""#),
        id("an em space in the id", r#""job\u20031""#),
    ]
}

fn missing() -> Vec<Row> {
    let no_header = |request: Request| request.without("X-Service-Job-Id");
    let no_id = ARTICLE.replacen(r#""job_id":"job_1","#, "", 1);
    let no_id = || delivery().body(&no_id);
    vec![
        for_sinks("the header's id, and none in the body", no_id(), UNPROCESSABLE),
        for_sinks("the header's id, and nothing in the body", delivery().body("{}"), UNPROCESSABLE),
        refused("no id in header or body", no_header(no_id()), INVALID_JOB_ID, NoJob),
        refused(
            "no id, and nothing in the body",
            no_header(delivery().body("{}")),
            INVALID_JOB_ID,
            NoJob,
        ),
        refused(
            "no id in the header, a number in the body",
            no_header(with_id("1")),
            INVALID_JOB_ID,
            NoJob,
        ),
        refused(
            "no id in the header, two dots in the body",
            no_header(with_id(r#""..""#)),
            INVALID_JOB_ID,
            NoJob,
        ),
    ]
}

/// Neither id is trusted, so that neither is handed on.
fn mismatched() -> Vec<Row> {
    let id = |situation, json: &str| refused(situation, with_id(json), MISMATCH, NoJob);
    let accented = with_id(r#""caf\u00e9""#).with("X-Service-Job-Id", "cafe\u{301}");
    let encoded = with_id(r#""job_1""#).with("X-Service-Job-Id", "job%5F1");
    vec![
        id("another id in the body", r#""job_2""#),
        id("the id in another case", r#""JOB_1""#),
        id("the beginning of the id", r#""job_""#),
        id("the id and a byte more", r#""job_1.""#),
        refused("an accent that is composed otherwise", accented, MISMATCH, NoJob),
        refused("an id that is percent-encoded in the header", encoded, MISMATCH, NoJob),
    ]
}
