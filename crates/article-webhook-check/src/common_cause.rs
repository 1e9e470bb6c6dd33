use crate::{
    cases::{Answer, Expectation},
    http::{OTHER_METHOD, OVER_THE_LIMIT, Observed, Response},
};

/// Why every other case would fail as those before did, and what to do; `None` if the others may show more.
pub(crate) fn common_cause(all: &[Answer]) -> Option<&'static str> {
    let is_server_error = |answer: &Answer| matches!(answer.observed.status(), Some(500..=599));
    // A receiver that cannot store refuses strangers all the same.
    let has_stranger = all.iter().any(|answer| answer.expect == Expectation::Refused(401));
    match all {
        [Answer { observed, .. }] => cause_of_first(observed),
        all if has_stranger && all.iter().all(is_server_error) => Some(
            "the receiver answers every request with a server error, also one without a token: its log should say why, such as a \
             database that cannot be reached",
        ),
        _ => None,
    }
}

/// The same after the first delivery.
fn cause_of_first(first: &Observed) -> Option<&'static str> {
    Some(match first {
        Observed::Unreachable => "nothing accepts connections any more: did the receiver end?",
        Observed::TlsAlert => TLS,
        Observed::Response(Response { status: 400, body, .. }) if mentions_https(body) => TLS,
        Observed::Closed | Observed::InvalidResponse(_) => {
            "no HTTP server answers there: is the port right, and is it without TLS?"
        }
        Observed::Response(Response { status, .. }) => match *status {
            401 | 403 => {
                "the receiver does not accept the token: give the whole Authorization header that it expects, \
                 scheme word included, and look into its log"
            }
            404 | 410 => "no receiver is at this path: compare the path of the URL with the route",
            300..=399 => {
                "the URL is redirected, and the service does not follow: give the final URL"
            }
            OTHER_METHOD => {
                "the route does not take POST: mount the receiver for POST, or for every method"
            }
            OVER_THE_LIMIT => {
                "an article of 500 words is over a limit for bodies: raise it to 8 MiB, in the framework and in every proxy"
            }
            // Another attempt may be let in.
            408 | 425 | 429 => return None,
            400..=499 => {
                "the receiver refuses an article as the service sends it: its log or its answer should say why"
            }
            _ => return None,
        },
        Observed::TimedOut | Observed::NotTried => return None,
    })
}

const TLS: &str = "the port is served with TLS, which this check does not speak: give the receiver's own port behind it";

/// What nginx and others answer to HTTP on a port of TLS.
fn mentions_https(body: &[u8]) -> bool {
    body.windows(5).any(|word| word == b"HTTPS")
}
