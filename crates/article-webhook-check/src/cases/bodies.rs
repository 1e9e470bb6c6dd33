//! Bodies that are not an article result, with the right token.

use super::{
    case::{Action, Case},
    expectation::Expectation,
    sample::Sample,
};
use crate::{Verdict, http::Request};

const LOST: &str =
    "after a 2xx the service does not send the article again, and this body does not hold it";
const LATER: &str = "programs that read the stored body later may read another article, or none";
const OBJECT: &str = "accept only a body that is one well-formed JSON object and nothing more";

fn malformed(
    severity: Verdict,
    name: &'static str,
    sent: &'static str,
    request: fn(&Sample) -> Request,
) -> Case {
    let why = if severity == Verdict::Fail { LOST } else { LATER };
    let (expect, action) = (Expectation::Refused(400), Action::Send(request));
    Case { name, sent, expect, severity, why, fix: OBJECT, action }
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
        lost(
            "a truncated body",
            "the first half of the body, with the length of this half",
            |sample| {
                let body = r#"{"status":"complete","article":{"title":"A check of the receiver","html":"<article"#;
                sample.delivery_of(body)
            },
        ),
        lost("no JSON", "a body that is a line of text", |sample| {
            sample.delivery_of("article complete")
        }),
        lost("an array", "the result in an array", |sample| {
            let result = format!(r#"[{{"job_id":"{}","status":"complete"}}]"#, sample.job_id);
            sample.delivery_of(result)
        }),
        Case {
            why: "a retry could not be recognised as the same article",
            fix: "require a job_id that is a string of 1 to 255 bytes without white space or control characters",
            ..odd("no job id at all", "no job id in the headers and in the body", |sample| {
                let body = r#"{"status":"complete","article":{"title":"A check of the receiver","html":"<article></article>"}}"#;
                sample.delivery_of(body).without(&sample.endpoint.job_id_header)
            })
        },
        Case {
            why: "programs read a number such as 7 in different ways, and may store it under different jobs",
            fix: "require a job_id that is a string",
            ..odd("a job id that is a number", "job_id is 7 in the body", |sample| {
                let body = r#"{"job_id":7,"status":"complete","article":{"title":"A check of the receiver","html":"<article></article>"}}"#;
                sample.delivery_of(body).with(&sample.endpoint.job_id_header, "7")
            })
        },
        odd("a key twice", "two job_id fields with two ids", |sample| {
            sample.with_fields(r#""job_id":"check-another","#)
        }),
        Case {
            fix: "limit the depth of JSON: a recursive parser overflows its stack, and the whole process dies",
            ..odd("deep nesting", "an unknown field that is 50,000 arrays deep", |sample| {
                let deep = ["\"deep\":", &"[".repeat(50_000), &"]".repeat(50_000), ","].concat();
                sample.with_fields(&deep)
            })
        },
        odd("bytes after the object", "the result twice in one body", |sample| {
            let result = format!(r#"{{"job_id":"{}","status":"complete"}}"#, sample.job_id);
            sample.delivery_of(result.repeat(2))
        }),
        odd("a job id with half a character", "a lone surrogate in the job id", |sample| {
            let body = format!(
                r#"{{"job_id":"{}\ud83c","status":"complete","article":{{"title":"A check of the receiver","html":"<article></article>"}}}}"#,
                sample.job_id
            );
            sample.delivery_of(body)
        }),
    ]
}
