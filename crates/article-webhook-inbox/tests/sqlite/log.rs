//! The size of the log.

use article_webhook_inbox::store::Store;

use super::{Fixture, arrival};

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn the_log_does_not_grow_with_what_is_stored() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let body = vec![b'a'; 8 << 20];
    for number in 0..10 {
        store.record(arrival(&format!("job_{number}"), &body)).await.unwrap();
    }
    // The last answer comes before the checkpoint, and this answer after it.
    store.probe().await.unwrap();
    let log = fixture.beside("-wal").metadata().unwrap().len();
    assert!(log < 48 * MIB, "{log}");
    assert_eq!(store.health().await.unwrap().wal_bytes, log);
    let file = fixture.path.metadata().unwrap().len();
    assert!(file > 40 * MIB, "{file}, log {log}");
}
