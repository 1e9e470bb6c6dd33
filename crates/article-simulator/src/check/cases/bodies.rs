//! Bodies that are no article result, under the right token.

use super::super::{
    case::{Act, Case},
    finding::Verdict,
    judge::Expect,
    request::Request,
    sample::Sample,
};

const LOST: &str =
    "a 2xx ends the matter: the article is not sent again, and it was not in this body";
const LATER: &str = "programs that read the stored body later may read another article, or none";
const OBJECT: &str = "take nothing but one well-formed JSON object, to the body's last byte";

fn malformed(
    otherwise: Verdict,
    name: &'static str,
    sent: &'static str,
    request: fn(&Sample) -> Request,
) -> Case {
    let why = if otherwise == Verdict::Fail { LOST } else { LATER };
    let (expect, act) = (Expect::Refused(400), Act::Send(request));
    Case { name, sent, expect, otherwise, why, fix: OBJECT, act }
}

fn lost(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    malformed(Verdict::Fail, name, sent, request)
}

fn odd(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    malformed(Verdict::Advice, name, sent, request)
}

pub(super) fn quick() -> Vec<Case> {
    vec![
        lost("no body", "Content-Length: 0", |sample| sample.delivery_of("")),
        lost("a truncated body", "the first half of the body, and its length", |sample| {
            let body = r#"{"status":"complete","article":{"title":"A check","html":"<article"#;
            sample.delivery_of(body)
        }),
        lost("no JSON", "a body that is a line of text", |sample| {
            sample.delivery_of("article complete")
        }),
        lost("an array", "the result in an array", |sample| {
            let result = format!(r#"[{{"job_id":"{}","status":"complete"}}]"#, sample.job_id);
            sample.delivery_of(result)
        }),
        Case {
            why: "no retry of it would be recognised as the same article",
            fix: "require a job_id that is a string of 1 to 255 bytes without white space or control characters",
            ..odd("no job id at all", "no job id in header and body", |sample| {
                let body = r#"{"status":"complete","article":{"title":"A check","html":"<article></article>"}}"#;
                sample.delivery_of(body).without(&sample.site.job_id_header)
            })
        },
        Case {
            why: "a 7 is one job for one program and another for the next",
            fix: "require a job_id that is a string",
            ..odd("a job id that is a number", "job_id is 7 in the body", |sample| {
                let body = r#"{"job_id":7,"status":"complete","article":{"title":"A check","html":"<article></article>"}}"#;
                sample.delivery_of(body).with(&sample.site.job_id_header, "7")
            })
        },
        odd("a key twice", "two job_id fields with two ids", |sample| {
            sample.with_fields(r#""job_id":"check-another","#)
        }),
        Case {
            fix: "bound the depth of JSON: a parser that recurses dies of this, and every delivery with it",
            ..odd("deep nesting", "an unknown field that is 50,000 arrays deep", |sample| {
                let deep = ["\"deep\":", &"[".repeat(50_000), &"]".repeat(50_000), ","].concat();
                sample.with_fields(&deep)
            })
        },
        odd("bytes behind the object", "the result twice in one body", |sample| {
            let result = format!(r#"{{"job_id":"{}","status":"complete"}}"#, sample.job_id);
            sample.delivery_of(result.repeat(2))
        }),
        odd("a byte order mark", "U+FEFF in front of the object", |sample| {
            let result =
                format!("\u{feff}{{\"job_id\":\"{}\",\"status\":\"complete\"}}", sample.job_id);
            sample.delivery_of(result)
        }),
        odd("a lone surrogate", "half of a character, as an escape", |sample| {
            sample.small(r#","meta_title":"\ud83c""#, "")
        }),
        odd("bytes that are no UTF-8", "the byte ff in a string", |sample| {
            let id = sample.job_id.as_bytes();
            sample.delivery_of(
                [b"{\"job_id\":\"", id, b"\",\"status\":\"complete\",\"x\":\"\xff\"}"].concat(),
            )
        }),
    ]
}
