use crate::{
    answers::{INVALID_JOB_ID, MISMATCH, UNPROCESSABLE},
    request::{ARTICLE, Request, delivery},
    row::{
        Row,
        Told::{Job, NoJob},
        for_sinks, kept, let_in, refused,
    },
};

pub(super) fn rows() -> Vec<Row> {
    [invalid(), missing(), mismatched(), only_here()].concat()
}

/// An article whose job id is this JSON value.
fn with_id(json: &str) -> Request {
    delivery().body(ARTICLE.replacen(r#""job_1""#, json, 1))
}

fn invalid() -> Vec<Row> {
    let id = |situation, json: &str| kept(situation, with_id(json), INVALID_JOB_ID, Job("job_1"));
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
        id("the id is false", "false"),
        id("the id is a fraction of zero", "1.0"),
        id("the id is an empty array", "[]"),
        id("a tab in the id", r#""job\t1""#),
        id("an escape character in the id", r#""job\u001b[31m""#),
        id("a zero character before the id", r#""\u0000job_1""#),
        id("a control sequence of one character in the id", "\"job\u{9b}1\""),
        id("a no-break space behind the id", "\"job_1\u{a0}\""),
        id("a line separator in the id", r#""job\u20281""#),
        id("an ideographic space in the id", "\"job\u{3000}1\""),
        id("the id has 256 bytes by escapes", &long(r"\u007a", 256)),
        id("the id has 1 MB", &long("x", 1_000_000)),
    ]
}

fn missing() -> Vec<Row> {
    let no_header = |request: Request| request.without("X-Service-Job-Id");
    let no_id = ARTICLE.replacen(r#""job_id":"job_1","#, "", 1);
    let inner = ARTICLE.replacen(r#""job_id":"job_1","#, "", 1);
    let inner = delivery().body(inner.replacen(r#""title""#, r#""job_id":"job_1","title""#, 1));
    let named = |key: &str| delivery().body(ARTICLE.replacen("job_id", key, 1));
    let no_id = || delivery().body(&no_id);
    vec![
        for_sinks("the header's id, and none in the body", no_id(), UNPROCESSABLE),
        for_sinks("the header's id, and nothing in the body", delivery().body("{}"), UNPROCESSABLE),
        for_sinks("the header's id, and one in the article", inner, UNPROCESSABLE),
        for_sinks("the header's id, and one in camel case", named("jobId"), UNPROCESSABLE),
        for_sinks("the header's id, and one in upper case", named("JOB_ID"), UNPROCESSABLE),
        for_sinks("the header's id, and one with a hyphen", named("job-id"), UNPROCESSABLE),
        for_sinks("the header's id, and one of no name", named(""), UNPROCESSABLE),
        refused(
            "no id in the header, null in the body",
            no_header(with_id("null")),
            INVALID_JOB_ID,
            NoJob,
        ),
        refused(
            "no id in the header, an empty one in the body",
            no_header(with_id(r#""""#)),
            INVALID_JOB_ID,
            NoJob,
        ),
        refused(
            "no id in the header, one of camel case in the body",
            no_header(named("jobId")),
            INVALID_JOB_ID,
            NoJob,
        ),
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
    let id = |situation, json: &str| kept(situation, with_id(json), MISMATCH, NoJob);
    let accented = with_id(r#""caf\u00e9""#).with("X-Service-Job-Id", "cafe\u{301}");
    let encoded = with_id(r#""job_1""#).with("X-Service-Job-Id", "job%5F1");
    vec![
        id("another id in the body", r#""job_2""#),
        id("the id in another case", r#""JOB_1""#),
        id("the beginning of the id", r#""job_""#),
        id("the id and a byte more", r#""job_1.""#),
        id("the id in full-width letters", r#""ｊｏｂ_1""#),
        id("a byte order mark before the id", r#""\ufeffjob_1""#),
        id("a space of no width in the id", r#""job_\u200b1""#),
        id("the id with its slash in front", r#""/job_1""#),
        id("the id with a Cyrillic letter", r#""j\u043eb_1""#),
        id("the id percent-encoded", r#""job%5F1""#),
        id("the id escaped twice", r#""job\\u005f1""#),
        kept("an accent that is composed otherwise", accented, MISMATCH, NoJob).job("cafe\u{301}"),
        kept("an id that is percent-encoded in the header", encoded, MISMATCH, NoJob)
            .job("job%5F1"),
    ]
}

/// The body's id alone, as where a proxy stripped the header, is the job's.
fn only_here() -> Vec<Row> {
    let id = |situation, json: &str, id: &str| {
        let_in(situation, with_id(json).without("X-Service-Job-Id")).job(id)
    };
    vec![
        id("an id in the body alone, of quotes", r#""\"1\"""#, r#""1""#),
        id("an id in the body alone, of a null's letters", r#""null""#, "null"),
        id("an id in the body alone, of surrogates", r#""\ud83c\udfc3""#, "🏃"),
        id("an id in the body alone, that no header could be", "\"\u{202e}1\"", "\u{202e}1"),
        id("an id in the body alone, of three dots", r#""...""#, "..."),
    ]
}
