//! Methods and headers that the service does not send.

use super::{
    case::{Action, Case},
    expectation::Expectation,
    sample::Sample,
};
use crate::{
    Verdict,
    http::{OTHER_METHOD, Request},
};

const METHOD: &str = "answer 405 with Allow: POST to every other method";
const TYPE: &str = "answer 415 unless there is exactly one Content-Type, application/json in UTF-8";
const STRIPPED: &str =
    "accept a complete article without it: some proxies strip headers that begin with X-";

fn refused(
    status: u16,
    name: &'static str,
    sent: &'static str,
    why: &'static str,
    fix: &'static str,
    request: fn(&Sample) -> Request,
) -> Case {
    let (expect, action) = (Expectation::Refused(status), Action::Send(request));
    Case { name, sent, expect, severity: Verdict::Advice, why, fix, action }
}

fn wrong_type(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    let why = "the service sends application/json and nothing else: this request comes from another sender, or \
               was changed on the way";
    refused(415, name, sent, why, TYPE, request)
}

pub(super) fn quick() -> Vec<Case> {
    vec![
        refused(
            OTHER_METHOD,
            "GET",
            "GET with the token",
            "crawlers and link checkers send GET",
            METHOD,
            |sample| sample.delivery().method("GET").body(""),
        ),
        refused(
            OTHER_METHOD,
            "PUT",
            "the delivery by PUT",
            "the service sends POST",
            METHOD,
            |sample| sample.delivery().method("PUT"),
        ),
        Case {
            expect: Expectation::NotAccepted,
            ..refused(
                404,
                "another path",
                "the delivery to a path below the receiver's",
                "a receiver that answers on every path also accepts requests that were meant for another route",
                "mount the receiver on its own path only",
                |sample| sample.delivery().append_to_path("/no-such-path"),
            )
        },
        wrong_type("no content type", "the delivery without Content-Type", |sample| {
            sample.delivery().without("Content-Type")
        }),
        wrong_type("text/plain", "Content-Type: text/plain", |sample| {
            sample.delivery().with("Content-Type", "text/plain")
        }),
        wrong_type("a form", "Content-Type: application/x-www-form-urlencoded", |sample| {
            sample.delivery().with("Content-Type", "application/x-www-form-urlencoded")
        }),
        wrong_type("two content types", "application/json and text/html", |sample| {
            sample.delivery().and("Content-Type", "text/html")
        }),
        wrong_type("another charset", "Content-Type: application/json; charset=utf-16", |sample| {
            sample.delivery().with("Content-Type", "application/json; charset=utf-16")
        }),
        refused(
            415,
            "gzip",
            "Content-Encoding: gzip",
            "a receiver that decompresses can be made to use much memory with a few bytes",
            "refuse every Content-Encoding: the service does not compress",
            |sample| sample.delivery().with("Content-Encoding", "gzip"),
        ),
        Case {
            expect: Expectation::AcceptedOr(400),
            ..refused(
                400,
                "no event",
                "the delivery without X-Service-Event",
                "behind a proxy that strips the header, every article would be lost",
                STRIPPED,
                |sample| sample.delivery().without(&sample.endpoint.event_header),
            )
        },
        Case {
            expect: Expectation::AcceptedOr(400),
            ..refused(
                400,
                "no job id header",
                "the delivery without X-Service-Job-Id",
                "behind a proxy that strips the header, every article would be lost",
                STRIPPED,
                |sample| sample.delivery().without(&sample.endpoint.job_id_header),
            )
        },
        refused(
            400,
            "two job id headers",
            "X-Service-Job-Id twice, with two ids",
            "programs choose differently between the two, and one of them stores the article under the wrong job",
            "refuse a repeated header of the service",
            |sample| sample.delivery().and(&sample.endpoint.job_id_header, "check-another"),
        ),
        Case {
            severity: Verdict::Fail,
            ..refused(
                422,
                "job ids that differ",
                "another job id in the header than in the body",
                "after a 2xx one of the two jobs counts as delivered, and its article never comes",
                "compare the header with the body's job_id, and refuse the delivery where they differ",
                |sample| sample.delivery().with(&sample.endpoint.job_id_header, "check-another"),
            )
        },
    ]
}
