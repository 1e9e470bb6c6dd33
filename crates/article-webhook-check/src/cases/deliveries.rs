//! Deliveries that must be accepted, however unusual.

use futures_util::future::join_all;

use super::{
    article::{USUAL_BYTES, result},
    case::{Action, Case},
    expectation::Expectation,
    sample::Sample,
};
use crate::{
    Verdict,
    http::{Observed, Request, exchange},
};

pub(super) fn accepted(
    name: &'static str,
    sent: &'static str,
    fix: &'static str,
    action: Action,
) -> Case {
    Case {
        name,
        sent,
        expect: Expectation::Accepted,
        severity: Verdict::Fail,
        why: "without a 2xx the article is sent again after 10, 60 and 300 s, and then never again",
        fix,
        action,
    }
}

/// What JSON does not allow, and senders are known to write.
fn repaired(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    let fix = "accept it, keep the bytes, and repair what is read of them: a strict parser loses an article that is paid for";
    accepted(name, sent, fix, Action::Send(request)).advisory()
}

const ANY_RESULT: &str =
    "require only job_id, status, title and html of a result, and ignore unknown fields";
const LIMIT: &str = "raise the limit for bodies to 8 MiB, in the framework and in every proxy";

pub(super) fn first() -> Vec<Case> {
    vec![accepted(
        "a delivery",
        "an article of 500 words, as the service sends it",
        "answer 2xx once it is stored: is the token the publish target's auth_token, and the path right?",
        Action::Send(Sample::delivery),
    )]
}

pub(super) fn last() -> Vec<Case> {
    vec![accepted(
        "a delivery at the end",
        "an article of 500 words",
        "find out after which case the receiver stopped working",
        Action::Send(Sample::delivery),
    )]
}

pub(super) fn quick() -> Vec<Case> {
    vec![
        accepted(
            "the same delivery again",
            "one delivery, and after the response the same bytes",
            "answer 2xx to an article that is stored already",
            Action::Run(|sample| Box::pin(twice(sample))),
        ),
        accepted(
            "ten copies at once",
            "the same bytes on ten connections at once",
            "let a unique constraint on job_id decide, and answer 2xx to duplicates",
            Action::Run(|sample| Box::pin(concurrently(vec![sample; 10]))),
        )
        .advisory(),
        accepted(
            "twenty deliveries at once",
            "twenty articles on twenty connections at once",
            "serve connections concurrently, and store quickly",
            Action::Run(|sample| {
                let job = |n| Sample { job_id: format!("{}-{n}", sample.job_id), ..sample.clone() };
                Box::pin(concurrently((0..20).map(job).collect()))
            }),
        ),
        accepted(
            "header names in lower case",
            "authorization, content-type and so on, as some proxies write them",
            "compare header names without regard to case",
            Action::Send(|sample| sample.delivery().with_names_in_lower_case()),
        ),
        accepted(
            "content type with charset",
            "Content-Type: application/json; charset=utf-8",
            "compare the media type only, and allow charset=utf-8",
            Action::Send(|sample| {
                sample.delivery().with("Content-Type", "application/json; charset=utf-8")
            }),
        ),
        accepted(
            "content type in capitals",
            "Content-Type: APPLICATION/JSON",
            "compare media types without regard to case",
            Action::Send(|sample| sample.delivery().with("Content-Type", "APPLICATION/JSON")),
        )
        .advisory(),
        accepted(
            "unknown fields",
            "a result with fields that the service does not document",
            ANY_RESULT,
            Action::Send(|sample| {
                sample.with_fields(r#""language":"en","seo":{"keywords":["a",null,1.5]},"#)
            }),
        ),
        accepted(
            "no optional field",
            "only job_id, status, title and html",
            ANY_RESULT,
            Action::Send(|sample| sample.minimal_with("", "")),
        ),
        accepted(
            "null for optional fields",
            "meta_title, featured_image and social_posts are null",
            ANY_RESULT,
            Action::Send(|sample| {
                sample.minimal_with(
                    r#","meta_title":null"#,
                    r#","featured_image":null,"social_posts":null"#,
                )
            }),
        )
        .advisory(),
        accepted(
            "social posts as objects",
            "elements of social_posts as objects and numbers: their shape is not documented",
            "keep social posts as JSON values",
            Action::Send(|sample| {
                sample.minimal_with(
                    "",
                    r#","social_posts":{"linkedin":[{"text":"Hi","media":[]}],"x":["Hi",7]}"#,
                )
            }),
        ),
        accepted(
            "integers written as 44.0",
            "word_count and credits_used with a fraction of zero",
            "accept 44.0 where 44 is meant",
            Action::Send(|sample| {
                sample.minimal_with(r#","word_count":44.0"#, r#","credits_used":3.0"#)
            }),
        )
        .advisory(),
        accepted(
            "every script and escape",
            "text in many scripts, as UTF-8 and as \\u escapes, surrogate pairs included",
            "read the body as UTF-8, and store it in a column that takes four-byte characters",
            Action::Send(|sample| {
                sample.minimal_with(
                    r#","meta_title":"Łódź 日本語 🏃 \u017c\ud83c\udfc3 \"\\\/\b\f\n\r\t""#,
                    "",
                )
            }),
        ),
        accepted(
            "the character U+0000",
            "\\u0000 in the meta title, which JSON allows",
            "store the bytes as they came: PostgreSQL's text and jsonb refuse this character",
            Action::Send(|sample| sample.minimal_with(r#","meta_title":"a\u0000b""#, "")),
        )
        .advisory(),
        repaired("a byte order mark", "U+FEFF before the object", |sample| {
            let article = result(&sample.job_id, USUAL_BYTES);
            sample.delivery_of([b"\xef\xbb\xbf", &article[..]].concat())
        }),
        repaired("a lone surrogate", "an escape for half of a surrogate pair", |sample| {
            sample.minimal_with(r#","meta_title":"\ud83c""#, "")
        }),
        repaired("a raw line break", "a line break in a string that is not escaped", |sample| {
            sample.minimal_with(",\"meta_title\":\"a\nb\"", "")
        }),
        repaired("bytes that are not UTF-8", "the byte e9 in a string", |sample| {
            sample.with_fields(b"\"note\":\"caf\xe9\",")
        }),
        repaired("NaN for a number", "eeat_score is NaN", |sample| {
            sample.minimal_with(r#","eeat_score":NaN"#, "")
        }),
        Case {
            fix: "let the event and the content decide, not the spelling of the status",
            ..repaired("another word for complete", "the status is Completed", |sample| {
                let id = &sample.job_id;
                sample.delivery_of(format!(
                    r#"{{"job_id":"{id}","status":"Completed","article":{{"title":"A check of the receiver","html":"<article></article>"}}}}"#
                ))
            })
        },
        accepted(
            "1 MiB",
            "an article of 1 MiB",
            LIMIT,
            Action::Send(|sample| sample.sized(1 << 20)),
        ),
        accepted(
            "3 MiB",
            "an article of 3 MiB",
            LIMIT,
            Action::Send(|sample| sample.sized(3 << 20)),
        ),
        accepted(
            "7 MiB",
            "an article of 7 MiB",
            LIMIT,
            Action::Send(|sample| sample.sized(7 << 20)),
        )
        .advisory(),
        accepted(
            "chunked",
            "Transfer-Encoding: chunked, in chunks of 1,000 bytes",
            "read bodies without a Content-Length: many proxies send them",
            Action::Send(|sample| sample.delivery().chunked(1000)),
        ),
        Case {
            expect: Expectation::AcceptedOr(422),
            ..accepted(
                "an unknown event",
                "X-Service-Event: article.updated",
                "answer 2xx, and store or log it: a retry would not help",
                Action::Send(|sample| {
                    sample.delivery().with(&sample.endpoint.event_header, "article.updated")
                }),
            )
        }
        .advisory(),
        Case {
            expect: Expectation::AcceptedOr(422),
            ..accepted(
                "a status other than complete",
                "status is failed, and there is no article",
                "answer 2xx and store the body unchanged, or answer 422",
                Action::Send(|sample| {
                    sample.delivery_of(format!(
                        r#"{{"job_id":"{}","status":"failed"}}"#,
                        sample.job_id
                    ))
                }),
            )
        }
        .advisory(),
    ]
}

async fn twice(sample: Sample) -> Vec<Observed> {
    let request = sample.delivery();
    vec![exchange(&sample.endpoint, &request).await, exchange(&sample.endpoint, &request).await]
}

async fn concurrently(samples: Vec<Sample>) -> Vec<Observed> {
    let deliveries = samples
        .into_iter()
        .map(|sample| async move { exchange(&sample.endpoint, &sample.delivery()).await });
    join_all(deliveries).await
}
