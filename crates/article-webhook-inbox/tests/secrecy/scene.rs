use std::{
    error::Error as _,
    future::pending,
    io::{self, Cursor},
    panic::resume_unwind,
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook::{
    AuthToken, Delivery, Receiver, Reply, Sink, Targets,
    adapter::RetryReason,
    fixture::{self, Defect, DeliveryRequest},
};
use article_webhook_inbox::{
    Clock, Digest, EntryKey, Error, Failed, Filter, Inbox, Job, JobFilter, Source, State,
    store::{Arrival, Claim, Outcome, Store},
};
use article_webhook_inbox_contract::CLAIM_ONE;
use tokio::task::yield_now;

use crate::canary::Canaries;

const SECOND: Duration = Duration::from_secs(1);

/// Everything that can happen to an inbox, with a canary in every place.
pub(crate) struct Scene {
    name: &'static str,
    /// Tokens, bodies, and the errors of handlers and sinks.
    pub(crate) secrets: Canaries,
    error: String,
    panicked: String,
    /// The label of a target and an intent.
    pub(crate) names: Canaries,
}

impl Scene {
    pub(crate) fn new(name: &'static str) -> Self {
        let mut secrets = Canaries::new(name);
        let handler = Canaries::new(&format!("the handler of {name}"));
        secrets.watch("a handler's error", &handler.token);
        secrets.watch("a handler's panic", &handler.content);
        let names = Canaries::new(&format!("the names in {name}"));
        Self { name, secrets, error: handler.token, panicked: handler.content, names }
    }

    pub(crate) fn job(&self, job: &str) -> String {
        format!("{}_{job}", self.name)
    }

    fn post(&self, job: &str) -> DeliveryRequest {
        let (token, content) = (&self.secrets.token, self.secrets.content.as_str());
        let article = serde_json::json!({ "title": content, "html": content });
        let post = fixture::complete().token(&format!("Bearer {token}")).job_id(&self.job(job));
        post.field("article", article).field("note", content)
    }

    fn receiver(&self) -> Receiver {
        let token = AuthToken::new(&format!("Bearer {}", self.secrets.token)).unwrap();
        Receiver::new(Targets::new(&self.names.token, token).unwrap())
    }

    fn delivery(&self, post: &DeliveryRequest) -> Delivery {
        self.receiver().open(post.headers()).unwrap().read(post.bytes().clone()).unwrap()
    }

    fn arrival(&self, job: &str) -> Arrival {
        let bytes = self.post(job).bytes().clone();
        Arrival {
            key: EntryKey::article(self.job(job).parse().unwrap()),
            source: Source::Webhook,
            target: self.names.token.as_str().into(),
            intent: Some(self.names.content.as_str().into()),
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    /// What public types and errors show meanwhile.
    pub(crate) async fn play(&self, store: impl Store, clock: &Clock) -> Vec<String> {
        let mut shown = self.before(&store, clock).await;
        let inbox = Inbox::new(store);
        self.deliver(&inbox).await;
        shown.extend(self.work(&inbox).await);
        shown.extend(self.after(&inbox).await);
        shown
    }

    /// A worker that was killed twice, and a damaged body.
    pub(crate) async fn before(&self, store: &impl Store, clock: &Clock) -> Vec<String> {
        let mut shown = vec![format!("{:?}", self.arrival("killed"))];
        store.record(self.arrival("killed")).await.unwrap();
        for _ in 0..3 {
            let claims =
                store.claim(Claim { lease: SECOND, attempts: 2, ..CLAIM_ONE }).await.unwrap();
            shown.push(format!("{claims:?}"));
            clock.advance(SECOND);
        }
        store
            .record(Arrival { digest: Digest::of(b"another"), ..self.arrival("damaged") })
            .await
            .unwrap();
        shown
    }

    /// One job for each way in which an attempt can end, with two attempts each, and what is not stored.
    pub(crate) async fn deliver(&self, inbox: &Inbox) {
        for job in [
            "succeeds",
            "fails_once",
            "is_put_off",
            "gives_up",
            "panics",
            "is_erased",
            "never_ends",
        ] {
            assert_eq!(inbox.accept(self.delivery(&self.post(job))).await, Reply::Stored);
        }
        for note in ["second", "second", "third", "fourth", "fifth"] {
            let post = self.post("never_ends").field("another", note);
            inbox.accept(self.delivery(&post)).await;
        }
        let undecodable = self
            .post("unused")
            .defect(Defect::NoArticle)
            .field("note", self.secrets.content.clone());
        assert_eq!(inbox.accept(self.delivery(&undecodable)).await, Reply::Stored);
        for post in [
            self.post("refused").defect(Defect::TruncatedBody),
            self.post("refused").defect(Defect::JobIdMismatch),
        ] {
            let opened = self.receiver().open(post.headers()).unwrap();
            let refused = opened.read(post.bytes().clone()).unwrap_err();
            inbox.keep_refused(refused).await;
        }
        // What a sink and a handler of an application without an inbox say.
        let unsaved = io::Error::other(self.error.clone());
        assert_eq!(Reply::retry_because(&unsaved), Reply::Retry);
        assert_eq!(RetryReason::of(unsaved).answer().status(), 503);
    }

    pub(crate) async fn work(&self, inbox: &Inbox) -> Vec<String> {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (own, jobs, error, panicked) =
            (inbox.clone(), Arc::clone(&shown), self.error.clone(), self.panicked.clone());
        let prefix = self.job("");
        let handler = move |job: Job| {
            jobs.lock().unwrap().extend([format!("{job:?}"), format!("{:#?}", job.completion())]);
            let (inbox, error, panicked) = (own.clone(), error.clone(), panicked.clone());
            let which = job.job_id().as_str().trim_start_matches(&prefix).to_owned();
            async move {
                match (which.as_str(), job.attempt()) {
                    ("fails_once", 1) => Err(Failed::from(error)),
                    ("is_put_off", _) => Err(Failed::snooze(SECOND)),
                    ("gives_up", _) => Err(Failed::dead(error)),
                    ("panics", _) => resume_unwind(Box::new(panicked)),
                    ("is_erased", _) => {
                        inbox.erase(job.job_id().clone()).await?;
                        Ok(())
                    }
                    ("never_ends", _) => pending().await,
                    _ => Ok(()),
                }
            }
        };
        let all_have_ended = async {
            let ends = [
                (State::Done, 2),
                (State::Dead, 3),
                (State::Unhandled, 1),
                (State::Corrupt, 1),
                (State::Waiting, 1),
                (State::Leased, 1),
            ];
            loop {
                let counts = inbox.counts().await.unwrap();
                if ends.iter().all(|(state, count)| counts.of(*state) == *count) {
                    return;
                }
                yield_now().await;
            }
        };
        let worker = inbox
            .worker(handler)
            .concurrency(10)
            .attempts(2)
            .backoff(Duration::ZERO, Duration::ZERO);
        let worker = worker.shutdown_grace(SECOND);
        shown.lock().unwrap().push(format!("{worker:?}"));
        worker.run(all_have_ended).await.unwrap();
        shown.lock().unwrap().clone()
    }

    /// What an operator sees, and the errors when nothing works any more.
    async fn after(&self, inbox: &Inbox) -> Vec<String> {
        let mut shown = vec![format!("{inbox:?}"), format!("{:?}", inbox.health().await)];
        let page = inbox.list(Filter::default()).await.unwrap();
        assert_eq!(page.items.len(), 10);
        for mut entry in page.items {
            let (_, bodies) = inbox.show(entry.key.clone()).await.unwrap().unwrap();
            shown.extend(bodies.iter().map(|body| format!("{body:?}")));
            if matches!(entry.state, State::Dead) {
                // The error of the handler, except for the part that the store keeps.
                let is_shown = !self.secrets.shown_in(&format!("{entry:?}")).is_empty();
                assert_eq!(is_shown, entry.key.job_id.as_str() != self.job("killed"), "{entry:?}");
                entry.cause = None;
            }
            // `Debug` shows the handler's errors in the failures as well.
            entry.failures.clear();
            shown.push(format!("{} {entry:?}", entry.key));
        }
        shown.push(format!("{:?}", inbox.jobs(JobFilter::default()).await.unwrap()));
        shown.push(format!("{:?} {:?}", inbox.check().await.unwrap(), Outcome::Done));

        let mut lines = Vec::new();
        inbox.export(&mut lines).await.unwrap();
        let lines = String::from_utf8(lines).unwrap().replace("\"sha256\":\"", "\"sha256\":\"00");
        shown.push(all_of(&inbox.import(Cursor::new(&lines)).await.unwrap_err()));

        inbox.close().await.unwrap();
        assert_eq!(inbox.accept(self.delivery(&self.post("late"))).await, Reply::Unavailable);
        shown.push(all_of(&inbox.counts().await.unwrap_err()));
        shown.push(format!("{:?}", inbox.health().await));
        shown
    }
}

/// The text of an error and of its sources.
fn all_of(error: &Error) -> String {
    let mut all = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        all += &format!(": {cause}");
        source = cause.source();
    }
    all
}
