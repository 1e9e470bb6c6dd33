use crate::{
    answers::{INVALID_JOB_ID, MISMATCH},
    request::{ARTICLE, Request, delivery},
    row::{Row, Told::NoJob, kept, let_in, refused},
};

pub(super) fn rows() -> Vec<Row> {
    [legal(), illegal(), other()].concat()
}

/// The id in the header and, as a JSON text, in the body.
fn about(header: &str, json: &str) -> Request {
    let body = ARTICLE.replacen("job_1", json, 1);
    delivery().with("X-Service-Job-Id", header).body(body)
}

fn legal() -> Vec<Row> {
    let same = |situation, id: &str| let_in(situation, about(id, id)).job(id);
    let longest = "x".repeat(255);
    let padded = about(" \tjob_1 ", "job_1");
    let quoted = about(r#""job"\1"#, r#"\"job\"\\1"#);
    vec![
        same("an id of one byte", "7"),
        same("an id of 255 bytes", &longest),
        same("an id of letters beyond ASCII", "zażółć-日本-🏃"),
        same("an id that looks percent-encoded", "%2e%2e%2f%00"),
        same("an id that looks like a path", "a/../../etc/passwd"),
        same("an id of three dots", "..."),
        same("an id that looks like markup", "<b>&'job'</b>"),
        same("an id that looks like an option", "--help"),
        let_in("an id of quotes and backslashes", quoted).job(r#""job"\1"#),
        let_in("white space around the id in the header", padded),
        let_in("an id that the body escapes", about("job_1", r"\u006aob\u005f1")),
        let_in("an id whose surrogates the body escapes", about("job🏃", r"job\ud83c\udfc3"))
            .job("job🏃"),
    ]
}

fn illegal() -> Vec<Row> {
    let header = |situation, value: &[u8]| {
        let request = delivery().with("X-Service-Job-Id", value);
        refused(situation, request, INVALID_JOB_ID, NoJob)
    };
    vec![
        header("the header's id is empty", b""),
        header("the header's id is white space", b" \t "),
        header("the header's id is a dot", b"."),
        header("the header's id is two dots", b".."),
        header("the header's id has 256 bytes", &[b'x'; 256]),
        header("the header's id has 256 bytes of fewer characters", "ż".repeat(128).as_bytes()),
        header("a space in the header's id", b"job 1"),
        header("a tab in the header's id", b"job\t1"),
        header("a no-break space in the header's id", "job\u{a0}1".as_bytes()),
        header("an ideographic space in the header's id", "job\u{3000}1".as_bytes()),
        header("a control character in the header's id", "job\u{85}1".as_bytes()),
        header("the header's id is Latin-1", b"caf\xe9"),
        header("two ids in one header", b"job_1, job_1"),
        header("a line separator in the header's id", "job\u{2028}1".as_bytes()),
        header("an Ogham space in the header's id", "job\u{1680}1".as_bytes()),
        header("a next-line character behind the header's id", "job_1\u{85}".as_bytes()),
        header("a no-break space behind the header's id", "job_1\u{a0}".as_bytes()),
        header("a control sequence of one character in the header's id", "job\u{9b}1".as_bytes()),
        header("an overlong dot in the header's id", b"\xc0\xae"),
        header("a surrogate in the header's id", b"job_\xed\xa0\x80"),
        header("a character that was cut in the header's id", b"job_\xc3"),
        header("the header's id has 12 KB", &[b'x'; 12_000]),
    ]
}

/// Legal, and not the id in the body, whatever a reader might make of it.
fn other() -> Vec<Row> {
    let other = |situation, id: &str| {
        kept(situation, delivery().with("X-Service-Job-Id", id), MISMATCH, NoJob).job(id)
    };
    vec![
        other("the header's id in quotes", r#""job_1""#),
        other("a comma behind the header's id", "job_1,"),
        other("two ids in one header without a space", "job_1,job_1"),
        other("a parameter behind the header's id", "job_1;v=1"),
        other("the header's id with a zero before its number", "job_01"),
        other("a space of no width in the header's id", "job\u{200b}_1"),
        other("a byte order mark before the header's id", "\u{feff}job_1"),
        other("the header's id in full-width letters", "ｊｏｂ_1"),
        other("the header's id as an escape", r"\u006aob_1"),
        other("null for the header's id", "null"),
    ]
}
