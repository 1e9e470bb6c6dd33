//! An inbox as a receiver leaves it.

use std::{
    future::pending,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use article_webhook::{
    Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{
    Digest, EntryKey, Inbox, Source, SqliteStore,
    store::{Arrival, BucketSettings, Outcome},
};
use article_webhook_inbox_contract::settle_one;
use article_webhook_server::Server;
use article_webhook_simulator::{Simulator, SimulatorClock};
use article_webhook_tower::{AuthToken, Receiver, receive};
use tempfile::TempDir;

/// A cause that tries to clear the screen, to end its line, to colour, to reverse and to hide what follows.
const HOSTILE: &str = "the blog is down\u{1b}[2J\nforged line\u{202e}\u{9b}31m\u{2066}\u{200b}";

/// Of a collector.
pub(crate) const BUCKET: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 7 };

/// The place of an inbox that is not there yet, in a folder that is removed with the first.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    (folder, file)
}

/// The same, with [what a receiver leaves](fill).
pub(crate) async fn inbox() -> (TempDir, PathBuf) {
    let (folder, file) = place();
    fill(&file).await;
    (folder, file)
}

/// One entry is done, one dead, two wait, and one is no article. The receiver has ended.
pub(crate) async fn fill(path: &Path) {
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

/// A service whose jobs take no time, with a brand.
pub(crate) async fn service() -> Simulator {
    let service = Simulator::builder().clock(SimulatorClock::accelerated(10_000)).brand("brand_1");
    service.start().await.unwrap()
}

pub(crate) async fn deliver(inbox: &Inbox, request: DeliveryRequest) {
    assert_eq!(inbox.accept(request.delivery().unwrap()).await, Reply::Stored);
}

/// A receiver with an inbox of its own. Returns its address.
pub(crate) async fn receiver() -> SocketAddr {
    let server = Server::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap());
    tokio::spawn(server.serve(receive(receiver, Inbox::memory()), pending()));
    address
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
