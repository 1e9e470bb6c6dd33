//! Deliveries that must be taken, however unusual.

use super::super::{
    case::{Act, Case},
    connection::exchange,
    finding::Verdict,
    heard::Heard,
    judge::Expect,
    sample::Sample,
};
use futures_util::future::join_all;

pub(super) fn taken(name: &'static str, sent: &'static str, fix: &'static str, act: Act) -> Case {
    Case {
        name,
        sent,
        expect: Expect::Taken,
        otherwise: Verdict::Fail,
        why: "anything but a 2xx is sent again after 10, 60 and 300 s, and then the article is never sent again",
        fix,
        act,
    }
}

const ANY_RESULT: &str =
    "require nothing of a result but job_id, status, title and html, and pass over what is unknown";
const LIMIT: &str = "raise the limit of a body to 8 MiB, in the framework and in every proxy";

pub(super) fn first() -> Vec<Case> {
    vec![taken(
        "a delivery",
        "an article of 500 words, as the service sends it",
        "answer 2xx once it is stored: is the token the publish target's auth_token, and the path right?",
        Act::Send(Sample::delivery),
    )]
}

pub(super) fn last() -> Vec<Case> {
    vec![taken(
        "a delivery after all of this",
        "an article of 500 words",
        "find out which case before this one the receiver did not survive",
        Act::Send(Sample::delivery),
    )]
}

pub(super) fn quick() -> Vec<Case> {
    vec![
        taken(
            "the same delivery again",
            "one delivery, and after its answer the same bytes",
            "answer 2xx to an article that is stored already",
            Act::Play(|sample| Box::pin(twice(sample))),
        ),
        taken(
            "ten copies at once",
            "ten times the same bytes, side by side",
            "let a unique constraint on job_id decide, and answer 2xx to those that come second",
            Act::Play(|sample| Box::pin(together(vec![sample; 10]))),
        )
        .advising(),
        taken(
            "twenty deliveries at once",
            "twenty articles, side by side",
            "serve connections side by side, and store quickly",
            Act::Play(|sample| {
                let job = |n| Sample { job_id: format!("{}-{n}", sample.job_id), ..sample.clone() };
                Box::pin(together((0..20).map(job).collect()))
            }),
        ),
        taken(
            "header names in lower case",
            "authorization, content-type and so on, as some proxies write them",
            "compare names of headers without regard to case",
            Act::Send(|sample| sample.delivery().with_names_in_lower_case()),
        ),
        taken(
            "content type with charset",
            "Content-Type: application/json; charset=utf-8",
            "look at the media type alone, and allow charset=utf-8",
            Act::Send(|sample| {
                sample.delivery().with("Content-Type", "application/json; charset=utf-8")
            }),
        ),
        taken(
            "content type in capitals",
            "Content-Type: APPLICATION/JSON",
            "compare media types without regard to case",
            Act::Send(|sample| sample.delivery().with("Content-Type", "APPLICATION/JSON")),
        )
        .advising(),
        taken(
            "unknown fields",
            "a result with fields that the document does not name",
            ANY_RESULT,
            Act::Send(|sample| {
                sample.with_fields(r#""language":"en","seo":{"keywords":["a",null,1.5]},"#)
            }),
        ),
        taken(
            "no optional field",
            "job_id, status, title and html alone",
            ANY_RESULT,
            Act::Send(|sample| sample.small("", "")),
        ),
        taken(
            "null for optional fields",
            "meta_title, featured_image and social_posts are null",
            ANY_RESULT,
            Act::Send(|sample| {
                sample
                    .small(r#","meta_title":null"#, r#","featured_image":null,"social_posts":null"#)
            }),
        )
        .advising(),
        taken(
            "social posts as objects",
            "elements of social_posts, whose shape is not documented, as objects and numbers",
            "keep social posts as the JSON they are",
            Act::Send(|sample| {
                sample.small(
                    "",
                    r#","social_posts":{"linkedin":[{"text":"Hi","media":[]}],"x":["Hi",7]}"#,
                )
            }),
        ),
        taken(
            "integers written as 44.0",
            "word_count and credits_used with a fraction of zero",
            "accept 44.0 where 44 is meant",
            Act::Send(|sample| sample.small(r#","word_count":44.0"#, r#","credits_used":3.0"#)),
        )
        .advising(),
        taken(
            "every script and escape",
            "text in many scripts, as UTF-8 and as \\u escapes, surrogate pairs included",
            "read the body as UTF-8, and store it where four bytes a character fit",
            Act::Send(|sample| {
                sample.small(
                    r#","meta_title":"Łódź 日本語 🏃 \u017c\ud83c\udfc3 \"\\\/\b\f\n\r\t""#,
                    "",
                )
            }),
        ),
        taken(
            "the character U+0000",
            "\\u0000 in the meta title, which JSON allows",
            "store the bytes as they came: PostgreSQL's text and jsonb refuse this character",
            Act::Send(|sample| sample.small(r#","meta_title":"a\u0000b""#, "")),
        )
        .advising(),
        taken("1 MiB", "an article of 1 MiB", LIMIT, Act::Send(|sample| sample.sized(1 << 20))),
        taken("3 MiB", "an article of 3 MiB", LIMIT, Act::Send(|sample| sample.sized(3 << 20))),
        taken("7 MiB", "an article of 7 MiB", LIMIT, Act::Send(|sample| sample.sized(7 << 20)))
            .advising(),
        taken(
            "chunked",
            "Transfer-Encoding: chunked, in chunks of 1,000 bytes",
            "read bodies without a Content-Length: many proxies send them so",
            Act::Send(|sample| sample.delivery().chunked(1000)),
        ),
        Case {
            expect: Expect::TakenOr(422),
            ..taken(
                "an unknown event",
                "X-Service-Event: article.updated",
                "answer 2xx, store it or log it: a retry cannot help",
                Act::Send(|sample| {
                    sample.delivery().with(&sample.site.event_header, "article.updated")
                }),
            )
        }
        .advising(),
        Case {
            expect: Expect::TakenOr(422),
            ..taken(
                "a status other than complete",
                "status is failed, and there is no article",
                "answer 2xx and store it as it came, or 422",
                Act::Send(|sample| {
                    sample.delivery_of(format!(
                        r#"{{"job_id":"{}","status":"failed"}}"#,
                        sample.job_id
                    ))
                }),
            )
        }
        .advising(),
    ]
}

async fn twice(sample: Sample) -> Vec<Heard> {
    let request = sample.delivery();
    vec![exchange(&sample.site, &request).await, exchange(&sample.site, &request).await]
}

async fn together(samples: Vec<Sample>) -> Vec<Heard> {
    let deliveries = samples
        .into_iter()
        .map(|sample| async move { exchange(&sample.site, &sample.delivery()).await });
    join_all(deliveries).await
}
