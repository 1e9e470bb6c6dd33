use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use super::TARGET;
use crate::{
    answer::{Refused, RefusedBody, Rejection},
    article::JobId,
    auth::Target,
};

/// Logs refusals. Anyone can cause refusals without a token, so these get at most one line a
/// second. An authentic refusal always has its line: it is an article that the service gives up after
/// four attempts, and only a sender with the token can cause it.
#[derive(Default)]
pub(crate) struct Refusals {
    last: AtomicU64,
    not_logged: AtomicU64,
}

impl Refusals {
    pub(crate) fn log(&self, refused: &Refused, now: SystemTime, targets: &[Target]) {
        let rejection = refused.rejection();
        if *rejection == Rejection::EventIgnored {
            return; // it has its own line, which names the event
        }
        let hint = refused.interrupts_the_sender().then_some(INTERRUPTED);
        let presented = || refused.presented.as_ref().map(ToString::to_string);
        if rejection.is_authentic() {
            let presented = presented();
            // Where two jobs are named, neither is trusted, and that of the header helps to find the delivery.
            let job_id = refused.job_id().or(refused.body().map(RefusedBody::job_id));
            let job_id = job_id.map(JobId::as_str);
            tracing::warn!(target: TARGET, code = rejection.code(), presented, job_id, hint, "delivery refused: {rejection}");
            return;
        }
        let now = now.duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        if self.last.swap(now, Ordering::Relaxed) == now {
            self.not_logged.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let not_logged = self.not_logged.swap(0, Ordering::Relaxed);
        let not_logged = (not_logged > 0).then_some(not_logged);
        let presented = presented();
        let expected =
            matches!(rejection, Rejection::AuthorizationMissing | Rejection::AuthorizationWrong);
        let expected = expected.then(|| expected_shapes(targets, presented.as_deref()));
        tracing::warn!(target: TARGET, code = rejection.code(), presented, expected, hint, not_logged, "request refused: {rejection}");
    }
}

/// What a refusal says whose sender was still writing.
const INTERRUPTED: &str =
    "the rest of the body was not read: a proxy that is still sending it may answer 502 instead";

/// The shapes of the accepted tokens. They were found when the tokens were built, so that a refusal takes no time
/// that depends on a secret.
fn expected_shapes(targets: &[Target], presented: Option<&str>) -> String {
    let mut shapes = Vec::new();
    for shape in targets.iter().map(|target| target.token.shape()) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    let shapes: Vec<_> = shapes.iter().map(ToString::to_string).collect();
    if presented.is_some_and(|presented| shapes.iter().any(|shape| shape == presented)) {
        return "another secret of this form".to_owned();
    }
    shapes.join(" or ")
}

#[cfg(all(test, feature = "fixture"))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        Answer, AuthToken, Receiver, Targets,
        answer::UnreadBody,
        fixture::{self, Defect, DeliveryRequest},
        log::tests::logged,
    };

    #[test]
    fn strangers_write_one_line_a_second() {
        let log = logged(|| {
            let receiver = fixture::receiver();
            let forged = fixture::complete().defect(Defect::WrongToken);
            for tick in 1_000..4_000 {
                let refused = receiver.open(forged.headers()).unwrap_err().drained();
                receiver.log_refusal(&refused, UNIX_EPOCH + Duration::from_millis(tick));
            }
        });
        let line = " WARN article_webhook: request refused: the Authorization header is not an \
                    accepted token code=\"unauthorized\" presented=\"`Bearer` and a secret\" \
                    expected=\"another secret of this form\"";
        let more = [line, " not_logged=999"].concat();
        assert_eq!(log.lines().collect::<Vec<_>>(), [line, &more, &more]);
    }

    #[test]
    fn a_refusal_shows_the_shape_of_what_was_presented_and_of_what_is_expected() {
        let token = |token| AuthToken::new(token).unwrap();
        let targets = || {
            Targets::new("blog", token("Bearer 5f2b9c0e7a1d4e38"))
                .and_then(|targets| targets.and("shop", token("Bearer a84be02f71c6-9d35")))
                .and_then(|targets| targets.and("news", token("a84be02f71c6-9d35")))
                .unwrap()
        };
        let line = |headers: &[(&str, &str)]| {
            logged(|| {
                let receiver = Receiver::new(targets());
                let refused = receiver.open(headers).unwrap_err().drained();
                receiver.log_refusal(&refused, UNIX_EPOCH + Duration::from_secs(1));
            })
        };
        let expected = "expected=\"`Bearer` and a secret or one word and no scheme word\"";
        let another = "expected=\"another secret of this form\"";
        for (presented, shape, expected) in [
            ("5f2b9c0e7a1d4e38", "one word and no scheme word", another),
            ("'Bearer 5f2b9c0e7a1d4e38'", "a value in quotation marks", expected),
            ("Bearer 5f2b9c0e7a1d4e39", "`Bearer` and a secret", another),
        ] {
            let log = line(&[("Authorization", presented)]);
            assert!(log.contains(&format!("presented=\"{shape}\" {expected}")), "{log}");
            assert!(!log.contains("5f2b") && !log.contains("a84b"), "{log}");
        }
        let missing = line(&[]);
        assert!(
            missing.contains("the Authorization header is missing: does a proxy strip it?"),
            "{missing}"
        );
        assert!(missing.contains(expected) && !missing.contains("presented="), "{missing}");
    }

    #[test]
    fn a_415_shows_what_came_escaped_and_cut_and_which_of_its_causes_it_was() {
        let line = |request: DeliveryRequest| {
            let receiver = fixture::receiver();
            let refused = receiver.open(request.headers()).unwrap_err().drained();
            assert_eq!(refused.answer().body(), Answer::from(&Rejection::ContentEncoding).body());
            logged(|| receiver.log_refusal(&refused, UNIX_EPOCH))
        };
        let post = fixture::complete;
        let of_type = |value: &str| post().header("Content-Type", value);
        for (request, cause, presented) in [
            (
                post().without_header("Content-Type"),
                "the Content-Type header is missing: does a proxy strip it?",
                "",
            ),
            (
                post().and_header("Content-Type", "text/html"),
                "the Content-Type header is repeated",
                r#" presented="application/json, text/html""#,
            ),
            (
                of_type("text/html\u{1b}[2J"),
                "the Content-Type is not a well-formed application/json",
                r#" presented="text/html\\u{1b}[2J""#,
            ),
            (
                of_type(&"x".repeat(101)),
                "the Content-Type is not a well-formed application/json",
                &format!(" presented=\"{}…\"", "x".repeat(100)),
            ),
            (
                of_type("application/json; charset=latin1"),
                "the charset of the Content-Type is not utf-8",
                r#" presented="application/json; charset=latin1""#,
            ),
            (
                post().header("Content-Encoding", "gzip"),
                "the Content-Encoding is not identity",
                r#" presented="gzip""#,
            ),
        ] {
            assert_eq!(
                line(request),
                format!(
                    " WARN article_webhook: delivery refused: {cause} \
                     code=\"unsupported_media_type\"{presented} job_id=\"job_7c1e4a52\"\n"
                )
            );
        }
    }

    #[test]
    fn a_refusal_to_a_sender_that_is_still_writing_names_the_502_of_a_proxy() {
        let log = |headers: &[(&str, &str)]| {
            logged(|| {
                let receiver = fixture::receiver();
                let refused = receiver.open(headers).unwrap_err();
                receiver.log_refusal(&refused, UNIX_EPOCH + Duration::from_secs(1));
            })
        };
        let is_hinted = |log: &str| log.contains("may answer 502");
        let large = ("Content-Length", "9000000");
        let authentic = [("Authorization", fixture::TOKEN), ("Content-Type", "application/json")];
        let too_large = log(&[authentic[0], authentic[1], large]);
        assert!(is_hinted(&too_large) && too_large.contains("payload_too_large"), "{too_large}");
        let stranger = log(&[large]);
        assert!(is_hinted(&stranger) && stranger.contains("unauthorized"), "{stranger}");
        let waits = log(&[large, ("Expect", "100-continue")]);
        assert!(!is_hinted(&waits) && waits.contains("unauthorized"), "{waits}");
        let already_read = logged(|| {
            let refused = Refused::new(Rejection::AlreadyRead, None, UnreadBody::Close);
            fixture::receiver().log_refusal(&refused, UNIX_EPOCH);
        });
        assert!(!is_hinted(&already_read) && already_read.contains("code="), "{already_read}");
    }
}
