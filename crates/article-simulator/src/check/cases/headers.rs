//! Methods and headers that the service does not send.

use super::super::{
    case::{Act, Case},
    finding::Verdict,
    judge::Expect,
    request::Request,
    sample::Sample,
};

const METHOD: &str = "answer 405 with Allow: POST to every other method";
const TYPE: &str = "answer 415 unless there is one Content-Type, application/json in UTF-8";
const STRIPPED: &str =
    "take a complete article without it: some proxies strip headers that begin with X-";

fn refused(
    status: u16,
    name: &'static str,
    sent: &'static str,
    why: &'static str,
    fix: &'static str,
    request: fn(&Sample) -> Request,
) -> Case {
    let (expect, act) = (Expect::Refused(status), Act::Send(request));
    Case { name, sent, expect, otherwise: Verdict::Advice, why, fix, act }
}

fn wrong_type(name: &'static str, sent: &'static str, request: fn(&Sample) -> Request) -> Case {
    let why = "the service sends application/json and nothing else: this comes from somebody else, or \
               something on the way changed it";
    refused(415, name, sent, why, TYPE, request)
}

pub(super) fn quick() -> Vec<Case> {
    vec![
        refused(
            405,
            "GET",
            "GET with the token",
            "crawlers and link checkers send GET",
            METHOD,
            |sample| sample.delivery().method("GET").body(""),
        ),
        refused(405, "PUT", "the delivery by PUT", "the service sends POST", METHOD, |sample| {
            sample.delivery().method("PUT")
        }),
        Case {
            expect: Expect::NotTaken,
            ..refused(
                404,
                "another path",
                "the delivery to a path below the receiver's",
                "a receiver that answers everywhere also answers where it was not mounted",
                "mount it on its own path alone",
                |sample| sample.delivery().behind_path("/no-such-path"),
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
            "a receiver that decompresses can be filled from a few bytes",
            "refuse every Content-Encoding: the service does not compress",
            |sample| sample.delivery().with("Content-Encoding", "gzip"),
        ),
        Case {
            expect: Expect::TakenOr(400),
            ..refused(
                400,
                "no event",
                "the delivery without X-Service-Event",
                "the article would be lost behind such a proxy",
                STRIPPED,
                |sample| sample.delivery().without(&sample.site.event_header),
            )
        },
        Case {
            expect: Expect::TakenOr(400),
            ..refused(
                400,
                "no job id header",
                "the delivery without X-Service-Job-Id",
                "the article would be lost behind such a proxy",
                STRIPPED,
                |sample| sample.delivery().without(&sample.site.job_id_header),
            )
        },
        refused(
            400,
            "two job id headers",
            "X-Service-Job-Id twice, with two ids",
            "which of the two counts differs between programs, and one of them stores it under the wrong job",
            "refuse a header of the service that is repeated",
            |sample| sample.delivery().and(&sample.site.job_id_header, "check-another"),
        ),
        Case {
            otherwise: Verdict::Fail,
            ..refused(
                422,
                "job ids that differ",
                "another job id in the header than in the body",
                "a 2xx ends the matter for one of the two jobs, of which nothing was delivered",
                "compare the header with the body's job_id, and trust neither where they differ",
                |sample| sample.delivery().with(&sample.site.job_id_header, "check-another"),
            )
        },
    ]
}
