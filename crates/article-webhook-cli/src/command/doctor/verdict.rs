//! What the answers to refused deliveries mean, and why there is none.

use std::{
    error::Error,
    io::{self, ErrorKind},
    iter::successors,
    time::Duration,
};

use reqwest::StatusCode;
use rustls::CertificateError;

use super::{
    finding::{Finding, Severity},
    probe::{Answer, LARGEST, NoAnswer},
};
use crate::{calls::NOT_REACHED, text::moment};

/// How long a refusal may take. It needs neither a store nor a body.
pub(super) const REFUSAL_TIMEOUT: Duration = Duration::from_secs(10);

/// A refusal needs no disk, so that it takes less.
const SLOW: Duration = Duration::from_secs(1);

/// Longer than any answer of a receiver of this project. The service's own limit is not documented.
const TOO_SLOW: Duration = Duration::from_secs(5);

/// Stops at a finding that explains all that would follow.
pub(super) type Step = Result<(), Finding>;

pub(super) fn refusal_of_wrong_token(answer: &Answer) -> Result<Finding, Finding> {
    let status = answer.status;
    let found = format!("a wrong token gets {status}");
    if status.is_success() {
        let found = format!("a delivery with a wrong token gets {status}");
        return Err(Finding::fail("receiver.accepts_wrong_token", found)
            .because("either no receiver is at this URL, or it accepts what strangers deliver")
            .fix(
                "check the URL; if it is right, give the receiver the token of the publish target",
            ));
    }
    unfit(answer)?;
    Ok(match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let found = format!("a wrong token is refused with {status}");
            Finding::ok("receiver.refuses_wrong_token", found)
        }
        _ if status.is_client_error() => Finding::warn("receiver.token_checked_late", found)
            .because("what a stranger sends is looked at before the token is")
            .fix("check the token before everything else, and answer 401"),
        _ => Finding::warn("receiver.unexpected", found).fix("answer 401 to a wrong token"),
    })
}

/// Refuses an answer that no receiver gives.
fn unfit(answer: &Answer) -> Step {
    let Answer { status, code, .. } = answer;
    let is = format!("the answer is {status}");
    Err(match *status {
        _ if status.is_redirection() => {
            Finding::fail("receiver.redirects", format!("the receiver answers {status}"))
                .because("the service follows no redirect, and delivers again in vain")
                .fix("give the service the URL to which it redirects: often https, with or without a last slash")
        }
        StatusCode::NOT_FOUND => Finding::fail("receiver.not_found", "no receiver is at this path")
            .because(is)
            .fix("check the path of the URL, and the routes of the proxy"),
        StatusCode::METHOD_NOT_ALLOWED => {
            Finding::fail("receiver.no_post", "this path accepts no POST")
                .because(is)
                .fix("check the path of the URL; mount the receiver for POST")
        }
        _ if answer.is_page => Finding::fail("receiver.page", format!("{is} with an HTML page"))
            .because("a proxy or another application answers in the receiver's place")
            .fix("start the receiver, and look into the log of the proxy before it"),
        _ if status.is_server_error() => {
            let code = code.as_deref().map(|code| format!(" with the code {code}"));
            let found = format!("the receiver answers {status}{}", code.unwrap_or_default());
            Finding::fail("receiver.fails", found)
                .because("the service delivers again at most three times")
                .fix("look into the log of the receiver")
        }
        _ => return Ok(()),
    })
}

/// Whether the right token was accepted, and the broken delivery refused.
pub(super) fn accepted_token(answer: &Answer) -> Step {
    let status = answer.status;
    if status.is_success() {
        let found = format!("a delivery without a job and with half a body gets {status}");
        return Err(Finding::fail("receiver.accepts_broken", found)
            .because("what is answered with 2xx is not delivered again: an article that is cut off is lost")
            .fix("answer 400 to a body that is no JSON; `article-webhook check URL` has all cases"));
    }
    unfit(answer)?;
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Ok(());
    }
    Err(Finding::fail("receiver.token_refused", format!("the token is refused with {status}"))
        .because("the receiver has another token, or a proxy removes or uses up `Authorization`")
        .fix(
            "compare the token with that of the receiver, whose log says whether `Authorization` was missing or \
             wrong; let the proxy pass it on",
        ))
}

pub(super) fn stripped(code: &'static str, name: &str, option: &str, answered: &str) -> Finding {
    // The code of a strict receiver.
    let (severity, cause) = match answered == "bad_request" {
        true => (Severity::Fail, "the receiver refuses deliveries without it"),
        false => (
            Severity::Warn,
            "without it, the job of a delivery with a broken body is not known, and cannot be polled",
        ),
    };
    Finding::new(code, severity, format!("{name} does not arrive")).because(cause).fix(format!(
        "let the proxy pass on all headers that begin with X-Service-; if the receiver has another name, give {option}"
    ))
}

pub(super) fn no_codes() -> Finding {
    let found = "whether headers and large bodies arrive, because the answers have no codes of this project";
    Finding::not_checked("receiver.headers", found).fix(
        "`article-webhook check URL` checks a receiver of any kind, and delivers articles to it",
    )
}

pub(super) fn body_limit(answer: &Answer) -> Finding {
    const CODE: &str = "receiver.body_limit";
    let body = format!("a body of {} MiB", LARGEST >> 20);
    match (answer.status, answer.code.as_deref()) {
        (_, Some("malformed_json")) => Finding::ok(CODE, format!("{body} arrives")),
        (StatusCode::PAYLOAD_TOO_LARGE, Some("payload_too_large")) => {
            Finding::fail(CODE, format!("the receiver refuses {body}"))
                .because("its own limit, or that of a layer of its framework, is lower")
                .fix("raise `body_limit` of the receiver, and the limit of the layer before it")
        }
        (StatusCode::PAYLOAD_TOO_LARGE, _) => {
            Finding::fail(CODE, format!("a proxy refuses {body}"))
                .because("the answer is not that of the receiver")
                .fix("raise the limit of the proxy, such as `client_max_body_size 8m` of nginx")
        }
        (_, Some("bad_request")) => {
            let found =
                format!("whether {body} arrives: a strict receiver refuses it by its headers");
            Finding::not_checked(CODE, found)
        }
        (status, _) => Finding::warn(CODE, format!("{body} gets {status}"))
            .because("the receiver would say that it is no JSON")
            .fix("look into the log of the receiver and of the proxy before it"),
    }
}

pub(super) fn speed(longest: Duration) -> Finding {
    let found = format!("the longest refusal took {} ms", longest.as_millis());
    let severity = match longest {
        _ if longest < SLOW => return Finding::ok("receiver.quick", found),
        _ if longest < TOO_SLOW => Severity::Warn,
        _ => Severity::Fail,
    };
    Finding::new("receiver.slow", severity, found)
        .because("the service does not say how long it waits; an answer within 5 s is safe, and a refusal needs no disk")
        .fix("look at the load of the machine and the way to it; answer before the work, with an inbox")
}

type Cause = dyn Error + 'static;

/// Why a receiver gave no answer.
pub(super) fn no_answer(why: NoAnswer) -> Finding {
    let error = match why {
        NoAnswer::Setup(failure) => {
            return Finding::of_failure("receiver.not_asked", Severity::Fail, &failure);
        }
        NoAnswer::Http(error) => error,
    };
    let causes: Vec<&Cause> = successors(Some(&error as &Cause), |&cause| next(cause)).collect();
    let last = causes.last().map(ToString::to_string).unwrap_or_default();
    if let Some(tls) = causes.iter().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        return of_tls(tls).because(last);
    }
    let is_refused = causes.iter().any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == ErrorKind::ConnectionRefused)
    });
    if is_refused {
        return Finding::fail("receiver.refused", "nothing listens at the receiver's port")
            .because(last)
            .fix(NOT_REACHED);
    }
    if error.is_timeout() && error.is_connect() {
        return Finding::fail("receiver.no_connection", "no connection is made in time")
            .because("a firewall drops what is sent to this host and port")
            .fix("let the service connect to the port, or check host and port of the URL");
    }
    if error.is_timeout() {
        let found = format!("no answer within {}", moment::span(REFUSAL_TIMEOUT));
        return Finding::fail("receiver.timeout", found)
            .because("the service does not wait for ever, and delivers three times more at most")
            .fix("look whether the process hangs, and whether a proxy waits for it");
    }
    Finding::fail("receiver.broken", "the connection ended before an answer")
        .because(last)
        .fix("check that the port speaks HTTP, and look into the log of the receiver and of the proxy before it")
}

/// The cause of an error. An I/O error hides the one that it was made of.
fn next(error: &Cause) -> Option<&Cause> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn of_tls(error: &rustls::Error) -> Finding {
    use CertificateError as Is;

    let rustls::Error::InvalidCertificate(certificate) = error else {
        return Finding::fail("receiver.tls_failed", "TLS cannot be agreed on").fix(
            "check that the port serves TLS 1.2 or 1.3, and that the URL should begin with https",
        );
    };
    match certificate {
        Is::Expired | Is::ExpiredContext { .. } => {
            Finding::fail("receiver.certificate_expired", "the certificate has expired").fix(
                "renew it, and have the web server load the new one; check this machine's clock",
            )
        }
        Is::NotValidYet | Is::NotValidYetContext { .. } => {
            Finding::fail("receiver.certificate_not_yet_valid", "the certificate is not valid yet")
                .fix("check the clocks of this machine and of the one that issued it")
        }
        Is::NotValidForName | Is::NotValidForNameContext { .. } => {
            Finding::fail("receiver.certificate_wrong_name", "the certificate is for another host")
                .fix("use the host name that the certificate has, or issue one for this name")
        }
        // What signed itself is its own unknown issuer.
        _ => {
            let found = "the certificate is not trusted here";
            Finding::fail("receiver.certificate_unknown_issuer", found).fix(
                "use a certificate of a public authority, with all intermediate certificates; the service refuses one \
                 that signed itself as well",
            )
        }
    }
}
