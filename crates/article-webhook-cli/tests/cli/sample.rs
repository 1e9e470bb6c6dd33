//! An inbox as a receiver leaves it.

use std::path::Path;

use article_webhook::{
    Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{
    Digest, EntryKey, Inbox, Source, SqliteStore,
    store::{Arrival, BucketSettings, Outcome},
};
use article_webhook_inbox_contract::settle_one;

/// A cause that tries to clear the screen, to end its line, and to reverse what follows.
const HOSTILE: &str = "the blog is down\u{1b}[2J\nforged line\u{202e}";

/// Of a collector.
pub(crate) const BUCKET: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 7 };

/// One entry is done, one dead, two wait, and one is no article. The receiver has ended.
pub(crate) async fn inbox(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    let inbox = Inbox::new(store.clone());
    deliver(&inbox, fixture::complete().job_id("job_done")).await;
    settle_one(&store, Outcome::Done).await;
    deliver(&inbox, fixture::complete().job_id("job_dead")).await;
    settle_one(&store, Outcome::Dead { cause: HOSTILE.to_owned() }).await;
    deliver(&inbox, DeliveryRequest::new("{\"job_id\":\"job_7c1e4a52\",\"title\":\"\\u202e\"}"))
        .await;
    settle_one(&store, Outcome::Unhandled { seen: 1, cause: "no article".to_owned() }).await;
    deliver(&inbox, fixture::unicode().job_id("job_waits")).await;
    deliver(&inbox, fixture::minimal().job_id("job_\u{202e}der")).await;
    inbox.close().await.unwrap();
}

pub(crate) async fn deliver(inbox: &Inbox, request: DeliveryRequest) {
    assert_eq!(inbox.accept(request.delivery().unwrap()).await, Reply::Stored);
}

/// The failure of a job, as the API shows it.
pub(crate) fn failure(job: &str) -> Arrival {
    let bytes = r#"{"error":"generation_failed","message":"","details":{}}"#;
    Arrival {
        key: EntryKey::failure(job.parse().unwrap()),
        source: Source::Api,
        target: "api".into(),
        intent: None,
        digest: Digest::of(bytes.as_bytes()),
        bytes: bytes.into(),
    }
}
