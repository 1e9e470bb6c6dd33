//! What the tests share: an inbox on a store with faults, and a stepped clock.

use std::time::{Duration, SystemTime};

use article_webhook::{
    Refused, Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{
    Clock, Digest, EntryKey, Inbox, Source,
    store::{Arrival, Recorded, Store},
};
use article_webhook_inbox_contract::faulty::Faulty;

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) struct Scene {
    pub(crate) inbox: Inbox,
    pub(crate) store: Faulty,
    pub(crate) clock: Clock,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let clock = Clock::stepped(SystemTime::UNIX_EPOCH + HOUR * 24 * 365);
        let store = Faulty::new(clock.clone());
        Self { inbox: Inbox::new(store.clone()), store, clock }
    }

    pub(crate) async fn accept(&self, post: &DeliveryRequest) -> Reply {
        let envelope = fixture::receiver().open(post.headers()).unwrap();
        self.inbox.accept(envelope.read(post.bytes().clone()).unwrap()).await
    }

    pub(crate) async fn deliver(&self, job: &str) {
        assert_eq!(self.accept(&fixture::complete().job_id(job)).await, Reply::Stored);
    }

    /// The receiver refuses it and reports that to the inbox.
    pub(crate) fn refuse(&self, job: &str) {
        self.hear(&fixture::complete().job_id(job).header("Content-Type", "text/html"));
    }

    pub(crate) fn hear(&self, post: &DeliveryRequest) {
        self.inbox.refused(&refusal(post));
    }

    /// The receiver refuses it, and waits until the inbox has kept its body.
    pub(crate) async fn keep(&self, post: &DeliveryRequest) {
        self.inbox.keep_refused(refusal(post)).await;
    }

    pub(crate) async fn record(&self, bytes: &[u8], digest: Digest) -> Recorded {
        let arrival = Arrival {
            key: key("job_1"),
            source: Source::Api,
            target: "default".into(),
            intent: None,
            digest,
            bytes: bytes.to_vec().into(),
        };
        self.store.record(arrival).await.unwrap()
    }
}

fn refusal(post: &DeliveryRequest) -> Refused {
    let opened = fixture::receiver().open(post.headers());
    opened.and_then(|envelope| envelope.read(post.bytes().clone())).unwrap_err()
}

pub(crate) async fn exported(inbox: &Inbox) -> String {
    let mut lines = Vec::new();
    inbox.export(&mut lines).await.unwrap();
    String::from_utf8(lines).unwrap()
}

pub(crate) fn key(job: &str) -> EntryKey {
    EntryKey::article(job.parse().unwrap())
}
