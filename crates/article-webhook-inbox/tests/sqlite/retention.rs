use std::{path::Path, time::Duration};

use article_webhook_inbox::{
    Prune,
    store::{Claim, Outcome, Store},
};

use super::{CLAIM, Fixture, arrival, key, reader};

const CANARY: &[u8] = b"canary-5f1d0c";

fn holds(path: &Path, bytes: &[u8]) -> bool {
    let content = std::fs::read(path).unwrap_or_default();
    content.windows(bytes.len()).any(|window| window == bytes)
}

/// Completes what is due, and says how its bodies are pruned a second later.
async fn complete(fixture: &Fixture, store: &impl Store) -> Prune {
    for claimed in store.claim(Claim { limit: 100, ..CLAIM }).await.unwrap().claimed {
        store.settle(claimed.lease, Outcome::Done).await.unwrap();
    }
    fixture.clock.advance(Duration::from_secs(1));
    let now = fixture.clock.now();
    let entries_before = now - Duration::from_secs(30);
    Prune { bodies_before: now, entries_before, limit: 60, ..Prune::default() }
}

#[tokio::test]
async fn erasing_beside_a_reader_must_be_repeated() {
    let fixture = Fixture::new();
    let store = fixture.open();
    store.record(arrival("job_1", CANARY)).await.unwrap();
    let other = reader(&fixture);

    let error = store.erase(vec![key("job_1").job_id]).await.unwrap_err();
    assert!(error.is_transient());
    let says = "the entries are removed, but another program reads the database, and its write-ahead log still holds them: call again";
    assert_eq!(error.to_string(), says);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.erase(vec![key("job_1").job_id]).await.unwrap()[0], 0);
    assert!(!holds(&fixture.beside("-wal"), CANARY));
    assert!(!holds(&fixture.path, CANARY));
}

/// Rows that move between pages, when others are removed, must leave no copies. Some bodies fill pages of their own.
#[tokio::test]
async fn an_erased_job_is_in_no_file_however_often_it_was_moved() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let name = |number: usize| format!("canary-{number:04}-");
    for number in 0..100 {
        let repeated = 1 + (number * 7919) % if number % 10 == 0 { 6000 } else { 400 };
        let body = name(number).repeat(repeated);
        store.record(arrival(&name(number), &body)).await.unwrap();
        // Some become done, and lose their bytes.
        if number % 3 == 0 {
            let prune = complete(&fixture, &store).await;
            store.prune(Prune { limit: 20, ..prune }).await.unwrap();
        }
    }
    for step in 0..100 {
        let number = (step * 31) % 100;
        store.erase(vec![key(&name(number)).job_id]).await.unwrap();
        for file in [&fixture.path, &fixture.beside("-wal")] {
            assert!(!holds(file, name(number).as_bytes()), "{number}: {}", file.display());
        }
    }
    assert_eq!(store.counts().await.unwrap().total(), 0);
}
