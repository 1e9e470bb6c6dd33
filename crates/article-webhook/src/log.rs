//! All log events. None holds a token, a body or a header value, except for job ids and events, which
//! are validated, and for the `Content-Type` and `Content-Encoding` of an authentic delivery that is refused for
//! them. Of a token and of what was presented in its place they show the shape. The error of a handler or a
//! sink is logged as the application wrote it, so it may hold any of these: it is the field `cause`, and stands in no
//! message. Without the feature `tracing` every function here is empty.

use std::time::Duration;

use http::StatusCode;

use crate::{
    answer::{Reply, ServiceHeader},
    article::{Drift, Event, JobId},
    auth::Target,
};

mod current_delivery;
#[cfg(feature = "tracing")]
mod refusals;
mod seen_drift;

pub(crate) use current_delivery::{CurrentDelivery, InDelivery};
pub use seen_drift::SeenDrift;

/// The same target for all events, so that one name filters them.
#[cfg(feature = "tracing")]
const TARGET: &str = "article_webhook";

#[cfg(feature = "tracing")]
mod enabled {
    use super::current_delivery::current_delivery;
    pub(crate) use super::refusals::Refusals;
    use super::*;

    pub(crate) fn accepted(job_id: &JobId, target: &str) {
        tracing::debug!(target: TARGET, job_id = job_id.as_str(), target_label = target, "delivery accepted");
    }

    /// The names of fields come from an authentic sender, and are escaped.
    pub(crate) fn drift(drift: &[Drift], seen: &SeenDrift, job_id: &JobId) {
        for difference in seen.see(drift) {
            tracing::warn!(target: TARGET, job_id = job_id.as_str(), "a delivery differs from the service's document, logged once: {difference}");
        }
    }

    pub(crate) fn header_missing(header: ServiceHeader, job_id: &JobId) {
        tracing::warn!(target: TARGET, job_id = job_id.as_str(), "the {header} header is missing: does a proxy strip it?");
    }

    pub(crate) fn unknown_event(event: &Event) {
        tracing::warn!(target: TARGET, event = event.as_str(), "this version does not know the event");
    }

    pub(crate) fn failed(failure: &str, job_id: Option<&JobId>) {
        let job_id = job_id.map(JobId::as_str);
        tracing::error!(target: TARGET, job_id, "{failure}");
    }

    pub(crate) fn handler_overtaken(job_id: &JobId) {
        tracing::error!(target: TARGET, job_id = job_id.as_str(), "the handler of an earlier delivery has not ended within the join limit: a second handler now runs beside it");
    }

    /// A delivery that needed no handler of its own, or found none in time.
    pub(crate) fn joined(reply: Reply, job_id: Option<&JobId>) {
        let job_id = job_id.map(JobId::as_str);
        match reply {
            Reply::Duplicate => {
                tracing::info!(target: TARGET, job_id, "answered 200 without running the handler: it has already handled the same delivery with success");
            }
            Reply::Unavailable => {
                tracing::warn!(target: TARGET, job_id, "answered 503: an earlier delivery of the job is still being handled");
            }
            _ => {
                tracing::warn!(target: TARGET, job_id, "answered 503: the handler of an earlier delivery, which this one waited for, has failed");
            }
        }
    }

    pub(crate) fn handler_late(deadline: Duration, job_id: Option<&JobId>) {
        let job_id = job_id.map(JobId::as_str);
        tracing::error!(target: TARGET, job_id, "answered 503: the handler has not ended within the answer deadline, {deadline:?}, and continues");
    }

    /// A handler has responded with this status, or with an error.
    pub(crate) fn handler_ended(status: Option<StatusCode>, current: &CurrentDelivery) {
        let job_id = current.job_id().map(JobId::as_str);
        match status {
            Some(status) if status.is_success() => {
                if current.was_late() {
                    tracing::info!(target: TARGET, job_id, "the handler that continued has ended with success");
                }
            }
            // The line of a `Retry` says more.
            _ if current.has_logged_a_retry() => {}
            Some(status) => {
                let status = status.as_u16();
                tracing::warn!(target: TARGET, job_id, "the handler responded with {status}, after which the service retries");
            }
            None => {
                tracing::warn!(target: TARGET, job_id, "the handler responded with an error, after which the service retries");
            }
        }
    }

    pub(crate) fn misconfigured(mistake: &str) {
        tracing::error!(target: TARGET, "{mistake}");
    }

    pub(crate) fn refusal_report_panicked(job_id: Option<&JobId>) {
        let job_id = job_id.map(JobId::as_str);
        tracing::error!(target: TARGET, job_id, "the sink panicked in `Sink::refused`");
    }

    pub(crate) fn retry(cause: &str) {
        let current = current_delivery();
        let job_id = current.as_ref().and_then(|current| current.log_a_retry()).map(JobId::as_str);
        tracing::warn!(target: TARGET, job_id, %cause, "the handler failed and asks for a retry");
    }

    pub(crate) fn sink_asks_for_a_retry(reply: Reply, job_id: &JobId) {
        let what = match reply {
            Reply::Unavailable => "the sink cannot store the delivery",
            _ => "the sink asks for a retry",
        };
        tracing::warn!(target: TARGET, job_id = job_id.as_str(), "{what}");
    }

    pub(crate) fn doubtful_token(target: &Target) {
        if let Some(doubt) = target.token.warning() {
            tracing::warn!(target: TARGET, target_label = &*target.label, "{doubt}");
        }
        if target.token.is_short() {
            tracing::warn!(target: TARGET, target_label = &*target.label, "the token has fewer than 16 characters and can be guessed: configure a longer one");
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use std::time::SystemTime;

    use super::*;
    use crate::answer::Refused;

    #[derive(Default)]
    pub(crate) struct Refusals(());

    impl Refusals {
        pub(crate) fn log(&self, _: &Refused, _: SystemTime, _: &[Target]) {}
    }

    pub(crate) fn accepted(_: &JobId, _: &str) {}
    pub(crate) fn drift(_: &[Drift], _: &SeenDrift, _: &JobId) {}
    pub(crate) fn header_missing(_: ServiceHeader, _: &JobId) {}
    pub(crate) fn unknown_event(_: &Event) {}
    pub(crate) fn failed(_: &str, _: Option<&JobId>) {}
    pub(crate) fn handler_overtaken(_: &JobId) {}
    pub(crate) fn joined(_: Reply, _: Option<&JobId>) {}
    pub(crate) fn handler_late(_: Duration, _: Option<&JobId>) {}
    pub(crate) fn handler_ended(_: Option<StatusCode>, _: &CurrentDelivery) {}
    pub(crate) fn misconfigured(_: &str) {}
    pub(crate) fn refusal_report_panicked(_: Option<&JobId>) {}
    pub(crate) fn retry(_: &str) {}
    pub(crate) fn sink_asks_for_a_retry(_: Reply, _: &JobId) {}
    pub(crate) fn doubtful_token(_: &Target) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;

#[cfg(test)]
#[cfg(all(feature = "tracing", feature = "fixture"))]
mod tests {
    use std::{
        future::pending,
        io::{self, Write},
        panic::resume_unwind,
        pin::pin,
        sync::{Arc, LazyLock, Mutex},
        task::{Context, Waker},
        time::{Instant, UNIX_EPOCH},
    };

    use crate::{
        AuthToken, Delivery, Receiver, Refused, Reply, Sink, StatusCode, TokenError,
        adapter::{self, MountId, RetryReason, RunSlot},
        fixture::{self, Defect, DeliveryRequest},
    };

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(super) fn logged(work: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .without_time()
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let lines = lines.0.lock().unwrap().clone();
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn each_event_has_its_line() {
        struct PanicsAtRefusal;

        impl Sink for PanicsAtRefusal {
            async fn accept(&self, _: Delivery) -> Reply {
                Reply::Stored
            }

            fn refused(&self, _: &Refused) {
                resume_unwind(Box::new("a panic without output"));
            }
        }

        let receiver = fixture::receiver();
        let open = |post: &DeliveryRequest| receiver.open(post.headers());
        let lines = |work: &dyn Fn()| logged(work).trim_end().replace(" article_webhook:", "");

        let stripped = fixture::complete().without_header("X-Service-Event");
        assert_eq!(
            lines(&|| drop(open(&stripped).unwrap().read(stripped.bytes().clone()))),
            " WARN the event header is missing: does a proxy strip it? job_id=\"job_7c1e4a52\"\n\
             DEBUG delivery accepted job_id=\"job_7c1e4a52\" target_label=\"default\"",
        );
        let unknown = fixture::complete().event("article.updated");
        assert_eq!(
            lines(&|| drop(open(&unknown).unwrap().article(unknown.bytes().clone()))),
            " WARN this version does not know the event event=\"article.updated\"",
        );
        let ping = unknown.without_header("X-Service-Job-Id").body("{}");
        let ignored = || {
            let refused = open(&ping).unwrap().read(ping.bytes().clone()).unwrap_err();
            assert_eq!(refused.answer().body(), r#"{"status":"ignored"}"#);
            receiver.log_refusal(&refused, UNIX_EPOCH);
        };
        assert_eq!(
            lines(&ignored),
            " WARN this version does not know the event event=\"article.updated\"",
            "one line"
        );
        let refused = open(&fixture::complete().defect(Defect::Compressed));
        let refused = refused.unwrap_err().drained();
        assert_eq!(
            lines(&|| receiver.log_refusal(&refused, UNIX_EPOCH)),
            " WARN delivery refused: the Content-Encoding is not identity \
             code=\"unsupported_media_type\" presented=\"gzip\" job_id=\"job_7c1e4a52\"",
        );
        assert_eq!(
            lines(&|| adapter::report_refusal(&refused, |refused| PanicsAtRefusal.refused(refused))),
            "ERROR the sink panicked in `Sink::refused` job_id=\"job_7c1e4a52\"",
        );
        let caused = io::Error::other(TokenError::Unreadable {
            path: "token".to_owned(),
            source: io::Error::other("it is a folder"),
        });
        assert_eq!(
            lines(&|| assert_eq!(Reply::retry_because(&caused), Reply::Retry)),
            " WARN the handler failed and asks for a retry cause=the token file token cannot be read: it is a folder",
        );
        let job_id = "job_1".parse().unwrap();
        assert_eq!(
            lines(&|| super::sink_asks_for_a_retry(Reply::Unavailable, &job_id)),
            " WARN the sink cannot store the delivery job_id=\"job_1\"",
        );
    }

    #[test]
    fn a_handler_that_fails_is_logged_with_its_job_when_it_responds() {
        let receiver = fixture::receiver();
        let delivery = fixture::complete().delivery().unwrap();
        let handle = |is_returned: bool| {
            let slot =
                RunSlot::new(&receiver, MountId::SHARED, &[("Host", "blog.example")], "/", || {
                    *START
                });
            let extractor = slot.clone();
            let handler = async {
                extractor.admit(&delivery).await;
                let reason = RetryReason::of("the disk is full");
                Some(if is_returned { reason.answer().status() } else { StatusCode::OK })
            };
            let spawn = async |work| Ok::<_, ()>(pin!(work).await);
            let layer = pin!(slot.supervise(handler, |status| *status, spawn, |_| pending()));
            assert!(layer.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        };
        assert_eq!(
            logged(|| handle(true)),
            " WARN article_webhook: the handler failed and asks for a retry job_id=\"job_7c1e4a52\" cause=the disk is full\n"
        );
        assert_eq!(logged(|| handle(false)), "", "a reason that is dropped");
    }

    #[test]
    fn a_sink_that_fails_has_one_line_with_the_reason_and_the_job() {
        async fn store(_: Delivery) -> Reply {
            Reply::retry_because(&io::Error::other("the disk is full"))
        }
        let receiver = fixture::receiver();
        let spawn = async |work| Ok::<_, ()>(pin!(work).await);
        let delivery = Ok(fixture::complete().delivery().unwrap());
        let log = logged(|| {
            let answer =
                adapter::dispatch(&receiver, delivery, Arc::new(store), spawn, |_| pending());
            assert!(pin!(answer).poll(&mut Context::from_waker(Waker::noop())).is_ready());
        });
        assert_eq!(
            log,
            " WARN article_webhook: the handler failed and asks for a retry job_id=\"job_7c1e4a52\" cause=the disk is full\n"
        );
    }

    #[test]
    fn a_field_that_the_document_does_not_have_is_logged_once() {
        let receiver = fixture::receiver();
        let log = logged(|| {
            for value in ["canary-1", "canary-2"] {
                let post = fixture::complete().field("newly\u{1b}added", value);
                receiver.open(post.headers()).unwrap().article(post.bytes().clone()).unwrap();
                let delivery = receiver.open(post.headers()).unwrap().read(post.bytes().clone());
                delivery.unwrap().decode().unwrap();
            }
        });
        let lines: Vec<_> = log.lines().filter(|line| line.contains("differs")).collect();
        let line = " WARN article_webhook: a delivery differs from the service's document, logged once: newly\\u{1b}added: unknown field, \
                    a string job_id=\"job_7c1e4a52\"";
        assert_eq!(lines, [line]);
        assert!(!log.contains("canary"), "{log}");
    }

    #[test]
    fn a_sink_that_decodes_a_delivery_logs_that_the_service_has_changed() {
        let post = fixture::complete().field("tone", "warm");
        for _receiver in 0..2 {
            let delivery = post.delivery().unwrap();
            let log = logged(|| drop((delivery.decode(), delivery.decode())));
            assert_eq!(log.matches("logged once: tone: unknown field").count(), 1, "{log}");
        }
    }

    #[test]
    fn a_short_token_is_warned_about() {
        let log = logged(|| drop(Receiver::new(AuthToken::new("Bearer hunter2").unwrap())));
        assert!(log.contains("can be guessed") && !log.contains("hunter2"), "{log}");
    }

    #[test]
    fn a_token_that_is_unusual_is_warned_about() {
        for (token, words) in [
            ("5f2b9c0e7a1d4e38", "has no scheme word"),
            ("Bearer '5f2b9c0e7a1d4e38'", "secret is in quotation marks"),
        ] {
            let log = logged(|| drop(Receiver::new(AuthToken::new(token).unwrap())));
            assert!(log.contains(words) && !log.contains("5f2b"), "{log}");
            assert_eq!(log.lines().count(), 1, "{log}");
        }
        let log =
            logged(|| drop(Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap())));
        assert_eq!(log, "");
    }
}
