//! What is logged, in one place: no token, no body, no header value but a job id, which is checked.
//! Without the feature `tracing` every function here is empty.

use std::{fmt::Display, time::SystemTime};

use crate::{Event, JobId, Refused, ServiceHeader, target::Target};

#[cfg(feature = "tracing")]
mod enabled {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        time::UNIX_EPOCH,
    };

    use super::*;

    /// One name to filter by, wherever in the crate an event comes from.
    const TARGET: &str = "article_webhook";

    /// Refusals of strangers, of whom anyone can send as many as they like: one line a second.
    #[derive(Default)]
    pub(crate) struct Refusals {
        last: AtomicU64,
        unlogged: AtomicU64,
    }

    impl Refusals {
        pub(crate) fn log(&self, refused: &Refused, now: SystemTime) {
            let rejection = refused.rejection();
            if rejection.is_authentic() {
                let job_id = refused.job_id().map(JobId::as_str);
                tracing::warn!(target: TARGET, code = rejection.code(), job_id, "delivery refused: {rejection}");
                return;
            }
            let now = now.duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
            if self.last.swap(now, Ordering::Relaxed) == now {
                self.unlogged.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let unlogged = self.unlogged.swap(0, Ordering::Relaxed);
            let unlogged = (unlogged > 0).then_some(unlogged);
            tracing::warn!(target: TARGET, code = rejection.code(), unlogged, "request refused: {rejection}");
        }
    }

    pub(crate) fn let_in(job_id: &JobId, target: &str) {
        tracing::debug!(target: TARGET, job_id = job_id.as_str(), target_label = target, "delivery let in");
    }

    pub(crate) fn header_missing(header: ServiceHeader, job_id: &JobId) {
        tracing::warn!(target: TARGET, job_id = job_id.as_str(), "the {header} header is missing: does a proxy strip it?");
    }

    pub(crate) fn unknown_event(event: &Event) {
        tracing::warn!(target: TARGET, event = event.as_str(), "this version does not know the event");
    }

    pub(crate) fn sink_failed(failure: &str, job_id: &JobId) {
        tracing::error!(target: TARGET, job_id = job_id.as_str(), "{failure}");
    }

    pub(crate) fn no_receiver() {
        tracing::error!(target: TARGET, "no Receiver in app_data: add .app_data(receiver) to the App");
    }

    pub(crate) fn deaf_sink(job_id: Option<&JobId>) {
        let job_id = job_id.map(JobId::as_str);
        tracing::error!(target: TARGET, job_id, "the sink panicked when it was told of a refusal");
    }

    pub(crate) fn retry(error: &dyn Display) {
        tracing::warn!(target: TARGET, "the handler failed and asks for another attempt: {error}");
    }

    pub(crate) fn short_token(target: &Target) {
        if target.token.is_short() {
            tracing::warn!(target: TARGET, target_label = &*target.label, "the token has fewer than 16 characters and can be guessed: configure a longer one");
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod disabled {
    use super::*;

    #[derive(Default)]
    pub(crate) struct Refusals(());

    impl Refusals {
        pub(crate) fn log(&self, _: &Refused, _: SystemTime) {}
    }

    pub(crate) fn let_in(_: &JobId, _: &str) {}
    pub(crate) fn header_missing(_: ServiceHeader, _: &JobId) {}
    pub(crate) fn unknown_event(_: &Event) {}
    pub(crate) fn sink_failed(_: &str, _: &JobId) {}
    pub(crate) fn no_receiver() {}
    pub(crate) fn deaf_sink(_: Option<&JobId>) {}
    pub(crate) fn retry(_: &dyn Display) {}
    pub(crate) fn short_token(_: &Target) {}
}

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::*;
#[cfg(feature = "tracing")]
pub(crate) use enabled::*;

#[cfg(test)]
#[cfg(all(feature = "tracing", feature = "fixture"))]
mod tests {
    use std::{
        future::{pending, ready},
        io::{self, Write},
        panic::resume_unwind,
        pin::pin,
        sync::{Arc, Mutex},
        task::{Context, Waker},
        time::{Duration, UNIX_EPOCH},
    };

    use crate::{
        Answer, AuthToken, Delivery, Receiver, Refused, Reply, Sink,
        fixture::{self, Post, Spoil},
    };

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

    fn logged(work: impl FnOnce()) -> String {
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
    fn strangers_write_one_line_a_second() {
        let log = logged(|| {
            let receiver = fixture::receiver();
            let forged = Post::complete().spoiled(Spoil::WrongToken);
            for tick in 1_000..4_000 {
                let refused = receiver.open(forged.headers()).unwrap_err();
                receiver.log_refusal(&refused, UNIX_EPOCH + Duration::from_millis(tick));
            }
        });
        let line = " WARN article_webhook: request refused: the Authorization header is not an \
                    accepted token code=\"unauthorized\"";
        let more = [line, " unlogged=999"].concat();
        assert_eq!(log.lines().collect::<Vec<_>>(), [line, &more, &more]);
    }

    #[test]
    fn each_event_has_its_line() {
        struct Deaf;

        impl Sink for Deaf {
            async fn accept(&self, _: Delivery) -> Reply {
                Reply::Stored
            }

            fn refused(&self, _: &Refused) {
                resume_unwind(Box::new("deaf"));
            }
        }

        let receiver = fixture::receiver();
        let open = |post: &Post| receiver.open(post.headers());
        let lines = |work: &dyn Fn()| logged(work).trim_end().replace(" article_webhook:", "");

        let stripped = Post::complete().without_header("X-Service-Event");
        assert_eq!(
            lines(&|| drop(open(&stripped).unwrap().read(stripped.body().clone()))),
            " WARN the event header is missing: does a proxy strip it? job_id=\"job_7c1e4a52\"\n\
             DEBUG delivery let in job_id=\"job_7c1e4a52\" target_label=\"default\"",
        );
        let unknown = Post::complete().spoiled(Spoil::UnknownEvent);
        assert_eq!(
            lines(&|| drop(open(&unknown).unwrap().article(unknown.body()))),
            " WARN this version does not know the event event=\"article.updated\"",
        );
        let refused = open(&Post::complete().spoiled(Spoil::Compressed)).unwrap_err();
        assert_eq!(
            lines(&|| receiver.log_refusal(&refused, UNIX_EPOCH)),
            " WARN delivery refused: the Content-Encoding is not identity \
             code=\"unsupported_media_type\" job_id=\"job_7c1e4a52\"",
        );
        assert_eq!(
            lines(&|| refused.report_to(&Deaf)),
            "ERROR the sink panicked when it was told of a refusal job_id=\"job_7c1e4a52\"",
        );
        let job_id = refused.job_id().unwrap();
        let panicked = || {
            let wait = pin!(receiver.wait(job_id, ready(Err::<Reply, _>(())), |_| pending()));
            assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        };
        assert_eq!(lines(&panicked), "ERROR the sink panicked job_id=\"job_7c1e4a52\"");
        assert_eq!(
            lines(&|| assert_eq!(Answer::retry(&"the disk is full").status(), 503)),
            " WARN the handler failed and asks for another attempt: the disk is full",
        );
        assert_eq!(
            lines(&|| assert_eq!(Answer::no_receiver().status(), 500)),
            "ERROR no Receiver in app_data: add .app_data(receiver) to the App",
        );
    }

    #[test]
    fn no_secret_and_no_content_is_logged() {
        let canary = "canary-3f9d51c07b";
        let log = logged(|| {
            let token = format!("Bearer {canary}");
            let receiver = Receiver::new(AuthToken::new(&token).unwrap());
            let mut posts = vec![
                Post::complete().token(&token),
                Post::complete().token(&token).without_header("X-Service-Event"),
                Post::complete().token(&token[..20]),
            ];
            posts.extend(Spoil::ALL.map(|spoil| Post::complete().token(&token).spoiled(spoil)));
            for (second, post) in (1..).zip(posts) {
                let post = post.field("note", canary.into());
                let opened = receiver.open(post.headers());
                if let Err(refused) = opened.and_then(|envelope| envelope.article(post.body())) {
                    receiver.log_refusal(&refused, UNIX_EPOCH + Duration::from_secs(second));
                }
            }
        });
        assert!(log.lines().count() > 18, "{log}");
        assert!(log.contains("job_7c1e4a52"), "{log}");
        assert!(!log.contains("canary"), "{log}");
    }

    #[test]
    fn a_short_token_is_warned_about() {
        let log = logged(|| drop(Receiver::new(AuthToken::new("Bearer hunter2").unwrap())));
        assert!(log.contains("can be guessed") && !log.contains("hunter2"), "{log}");
    }

    /// Identity and sizes, and never content.
    const EXPECTED: [&str; 11] = [
        r#"AuthToken(redacted)"#,
        r#"Receiver { targets: ["default"], body_limit: 8388608, .. }"#,
        r#"ReceiverBuilder { targets: Targets(["default"]), .. }"#,
        r#"Envelope { target: "default", event: Some(ArticleComplete), job_id: Some(JobId("job_7c1e4a52")), .. }"#,
        r#"Intake { envelope: Envelope { target: "default", event: Some(ArticleComplete), job_id: Some(JobId("job_7c1e4a52")), .. }, body: 273 bytes }"#,
        r#"Delivery { job_id: JobId("job_7c1e4a52"), event: ArticleComplete, target: "default", intent: None, body: 273 bytes }"#,
        r#"Article { title: 17 bytes, html: UntrustedHtml(17 bytes), meta_title: Some(17 bytes), meta_description: None, eeat_score: None, word_count: None }"#,
        r#"Some(FeaturedImage { url: Some(17 bytes), alt_text: Some(17 bytes) })"#,
        r#"SocialPosts { linkedin: [], x: [SocialPost(..), SocialPost(..)] }"#,
        r#"featured_image: expected an object, found an array DecodeError(Mismatch { path: "featured_image", expected: "an object", found: Some(Array) })"#,
        r#"the body is no article result: featured_image: expected an object, found an array Refused { rejection: Undecodable(DecodeError(Mismatch { path: "featured_image", expected: "an object", found: Some(Array) })), job_id: Some(JobId("job_7c1e4a52")), leftover: Nothing } Answer { code: Unprocessable, closes: false }"#,
    ];

    #[test]
    fn no_type_shows_a_token_or_a_body() {
        let canary = "canary-3f9d51c07b";
        let token = AuthToken::new(&format!("Bearer {canary}")).unwrap();
        let receiver = Receiver::new(token.clone());
        let article = serde_json::json!({"title": canary, "html": canary, "meta_title": canary});
        let post = Post::complete().token(&format!("Bearer {canary}")).field("article", article);
        let posts = serde_json::json!({"x": [canary, {"text": canary}]});
        let post = post.field("social_posts", posts).field("featured_image", [canary].into());

        let open = || receiver.open(post.headers()).unwrap();
        let mut intake = open().intake();
        intake.push(post.body().slice(..100)).unwrap();
        intake.push(post.body().slice(100..)).unwrap();
        let delivery = open().read(post.body().clone()).unwrap();
        let undecodable = delivery.decode().unwrap_err();
        let image = serde_json::json!({"url": canary, "alt_text": canary});
        let result = open().article(post.clone().field("featured_image", image).body()).unwrap();
        let refused = open().article(post.body()).unwrap_err();

        let shown = [
            format!("{token:?}"),
            format!("{receiver:?}"),
            format!("{:?}", Receiver::builder(token)),
            format!("{:?}", open()),
            format!("{intake:?}"),
            format!("{delivery:?}"),
            format!("{:?}", result.article),
            format!("{:?}", result.featured_image),
            format!("{:?}", result.social_posts),
            format!("{undecodable} {undecodable:?}"),
            format!("{refused} {refused:?} {:?}", refused.answer()),
        ];
        assert_eq!(shown, EXPECTED);
        assert!(
            format!("{result:?}").starts_with(r#"ArticleResult { job_id: JobId("job_7c1e4a52"), "#)
        );
        assert!(!format!("{shown:?} {result:?}").contains("canary"));
    }
}
