//! What the answers to refused deliveries mean.

use std::time::Duration;

use reqwest::StatusCode;

use super::{
    finding::Finding,
    probe::{Answer, LARGEST},
};

/// A refusal needs no disk, so that it takes less.
const SLOW: Duration = Duration::from_secs(1);

/// Longer than any answer of a receiver of this project. The service's own limit is not documented.
const TOO_SLOW: Duration = Duration::from_secs(5);

/// Stops at a finding that explains all that would follow.
pub(super) type Step = Result<(), Finding>;

pub(super) fn refusal_of_wrong_token(answer: &Answer) -> Result<Option<Finding>, Finding> {
    let status = answer.status;
    if status.is_success() {
        return Err(Finding::fail(
            "receiver.accepts_wrong_token",
            format!("a delivery with a wrong token gets {status}"),
        )
        .because("either no receiver is at this URL, or it accepts what strangers deliver")
        .fix("check the URL; if it is right, give the receiver the token of the publish target"));
    }
    unfit(answer)?;
    Ok(Some(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Finding::ok(
            "receiver.refuses_wrong_token",
            format!("a wrong token is refused with {status}"),
        ),
        _ if status.is_client_error() => {
            Finding::warn("receiver.token_checked_late", format!("a wrong token gets {status}"))
                .because("what a stranger sends is looked at before the token is")
                .fix("check the token before everything else, and answer 401")
        }
        _ => Finding::warn("receiver.unexpected", format!("a wrong token gets {status}"))
            .fix("answer 401 to a wrong token"),
    }))
}

/// Refuses an answer that no receiver gives.
fn unfit(answer: &Answer) -> Step {
    let Answer { status, code, .. } = answer;
    let code = code.as_deref().map(|code| format!(" with the code {code}")).unwrap_or_default();
    if status.is_redirection() {
        return Err(Finding::fail("receiver.redirects", format!("the receiver answers {status}"))
            .because("the service follows no redirect, and delivers again in vain")
            .fix("give the service the URL to which it redirects: often https, with or without a last slash"));
    }
    if *status == StatusCode::NOT_FOUND {
        return Err(Finding::fail("receiver.not_found", "no receiver is at this path")
            .because(format!("the answer is {status}"))
            .fix("check the path of the URL, and the routes of the proxy"));
    }
    if *status == StatusCode::METHOD_NOT_ALLOWED {
        return Err(Finding::fail("receiver.no_post", "what is at this path takes no POST")
            .because(format!("the answer is {status}"))
            .fix("check the path of the URL; mount the receiver for POST"));
    }
    if answer.is_page {
        return Err(Finding::fail(
            "receiver.page",
            format!("the answer is {status} with a page for people"),
        )
        .because("a proxy or another application answers in the receiver's place")
        .fix("start the receiver, and look into the log of the proxy before it"));
    }
    if status.is_server_error() {
        return Err(Finding::fail(
            "receiver.fails",
            format!("the receiver answers {status}{code}"),
        )
        .because("the service delivers again at most three times")
        .fix("look into the log of the receiver"));
    }
    Ok(())
}

/// Whether the right token was accepted, and the broken delivery refused.
pub(super) fn accepted_token(answer: &Answer) -> Step {
    let status = answer.status;
    if status.is_success() {
        return Err(Finding::fail(
            "receiver.accepts_broken",
            format!("a delivery without a job and with half a body gets {status}"),
        )
        .because(
            "what is answered with 2xx is not delivered again: an article that is cut off is lost",
        )
        .fix("answer 400 to a body that is no JSON; `article-webhook check URL` has all cases"));
    }
    unfit(answer)?;
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(Finding::fail("receiver.token_refused", format!("the token is refused with {status}"))
                .because("the receiver has another token, or a proxy removes or uses up `Authorization`")
                .fix(
                    "compare the token with that of the receiver, whose log says whether `Authorization` was missing or \
                     wrong; let the proxy pass it on",
                ))
        }
        _ => Ok(()),
    }
}

pub(super) fn stripped(code: &'static str, name: &str, option: &str, answered: &str) -> Finding {
    let found = format!("{name} does not arrive");
    let fix = format!(
        "let the proxy pass on all headers that begin with X-Service-; if the receiver has another name, give {option}"
    );
    // The code of a strict receiver.
    if answered == "bad_request" {
        return Finding::fail(code, found)
            .because("the receiver refuses deliveries without it")
            .fix(fix);
    }
    Finding::warn(code, found)
        .because(
            "without it, a delivery with a broken body cannot be told from others, nor asked for",
        )
        .fix(fix)
}

pub(super) fn no_codes() -> Finding {
    let found = "whether headers and large bodies arrive, because the answers have no codes of this project";
    Finding::not_checked("receiver.headers", found)
        .fix("`article-webhook check URL` asks a receiver of any kind, and delivers articles to it")
}

pub(super) fn body_limit(answer: &Answer) -> Finding {
    let size = LARGEST >> 20;
    match (answer.status, answer.code.as_deref()) {
        (_, Some("malformed_json")) => {
            Finding::ok("receiver.body_limit", format!("a body of {size} MiB arrives"))
        }
        (StatusCode::PAYLOAD_TOO_LARGE, Some("payload_too_large")) => Finding::fail(
            "receiver.body_limit",
            format!("the receiver refuses a body of {size} MiB"),
        )
        .because("its own limit, or that of a layer of its framework, is lower")
        .fix("raise `body_limit` of the receiver, and the limit of the layer before it"),
        (StatusCode::PAYLOAD_TOO_LARGE, _) => {
            Finding::fail("receiver.body_limit", format!("a proxy refuses a body of {size} MiB"))
                .because("the answer is not that of the receiver")
                .fix("raise the limit of the proxy, such as `client_max_body_size 8m` of nginx")
        }
        (_, Some("bad_request")) => {
            let found = format!(
                "whether a body of {size} MiB arrives: a strict receiver refuses it by its headers"
            );
            Finding::not_checked("receiver.body_limit", found)
        }
        (status, _) => {
            Finding::warn("receiver.body_limit", format!("a body of {size} MiB gets {status}"))
                .because("the receiver would say that it is no JSON")
                .fix("look into the log of the receiver and of the proxy before it")
        }
    }
}

pub(super) fn speed(longest: Duration) -> Finding {
    let took = longest.as_millis();
    let found = format!("the longest refusal took {took} ms");
    let finding = match longest {
        _ if longest < SLOW => return Finding::ok("receiver.quick", found),
        _ if longest < TOO_SLOW => Finding::warn("receiver.slow", found),
        _ => Finding::fail("receiver.slow", found),
    };
    finding
        .because("the service does not say how long it waits; an answer within 5 s is safe, and a refusal needs no disk")
        .fix("look at the load of the machine and the way to it; answer before the work, with an inbox")
}
