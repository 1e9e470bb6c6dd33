//! Where no inbox can be in a file, the error says what to use instead.

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::Inbox;

#[tokio::test]
async fn a_file_is_refused_before_anything_is_made_and_memory_is_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Inbox::open(folder.path().join("inbox.db")).await.unwrap_err().to_string();
    assert!(refused.contains("Use PostgreSQL") && refused.contains("`Inbox::memory`"), "{refused}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);

    let reply = Inbox::memory().accept(fixture::complete().delivery().unwrap()).await;
    assert_eq!(reply, Reply::Stored);
}
