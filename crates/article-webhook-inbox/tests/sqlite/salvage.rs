//! What refuses a salvage, and that the advice of a refused start leads on. Every damage is in the harness `damage`.

use std::{fs, time::Duration};

use article_webhook_inbox::{
    IntentState, SqliteStore, State,
    store::{Expect, Intended, Outcome, Progress, Quarantine, Store},
};

use super::{CLAIM, Fixture, arrival, key, record};

const MINUTE: Duration = Duration::from_secs(60);

/// The file that the advice calls `NEW`.
fn new(fixture: &Fixture) -> std::path::PathBuf {
    fixture.path.with_file_name("new.db")
}

fn refused(fixture: &Fixture) -> String {
    SqliteStore::salvage(&fixture.path, new(fixture)).unwrap_err().to_string()
}

#[tokio::test]
async fn only_a_new_file_and_one_that_nobody_uses_are_taken() {
    let fixture = Fixture::new();
    let shown = fixture.shown();
    assert_eq!(refused(&fixture), format!("{shown} does not exist: name the damaged database"));
    let store = fixture.open();
    record(&store, 0..2).await;
    assert!(refused(&fixture).starts_with("this process has"));
    store.close().await.unwrap();
    fs::write(new(&fixture), "").unwrap();
    let exists = format!("{} exists: name a new file", new(&fixture).display());
    assert_eq!(refused(&fixture), exists);
    fs::remove_file(new(&fixture)).unwrap();

    let salvaged = SqliteStore::salvage(&fixture.path, new(&fixture)).unwrap();
    assert!(salvaged.is_whole());
    assert_eq!((salvaged.entries, salvaged.lost.len()), (2, 0));
    assert_eq!(
        fs::read_dir(fixture.path.parent().unwrap()).unwrap().count(),
        4,
        "two files and locks"
    );
}

/// The advice of a start that lacks transactions: nothing that may have been done is handled, and no order is repeated.
#[tokio::test]
async fn after_a_lost_log_nothing_is_done_or_ordered_twice() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..2).await;
    let (arrival_5, cause) = (arrival("job_5", "{"), "a reason".to_owned());
    let expect = Some(Expect::job(arrival_5.key.job_id.clone(), store.now()));
    let quarantine =
        Quarantine { arrival: arrival_5, cause, expect, statement: None, budget: 1 << 20 };
    store.quarantine(quarantine).await.unwrap();
    store.close().await.unwrap();
    let store = fixture.open();
    let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
    store.settle(lease, Outcome::Done).await.unwrap();
    store.intend("post-1", MINUTE, 1, None).await.unwrap();
    let killed = fixture.copied(&["", "-lock"]);
    let error = SqliteStore::open(&killed.path).unwrap_err().to_string();
    let command = format!("`article-webhook inbox salvage {} NEW`", killed.shown());
    assert!(error.contains(&command), "{error}");

    let progress = Progress::default();
    let salvaged = SqliteStore::salvage_with(&killed.path, new(&killed), &progress).unwrap();
    assert_eq!((salvaged.entries, salvaged.doubtful), (3, 2));
    let written = salvaged.entries + salvaged.ledger;
    assert!(progress.get().is_some_and(|(done, whole)| done >= written && whole > 0));
    assert!(salvaged.lost_changes.is_some_and(|lost| lost > 0));
    assert!(salvaged.may_lack_names && salvaged.ledger_has_gaps);
    let store = SqliteStore::open(new(&killed)).unwrap();
    let (entry, _) = store.show(key("job_0")).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Dead);
    assert_eq!(entry.cause.as_deref(), Some("salvaged: look whether it was published"));
    let (entry, _) = store.show(key("job_5").quarantine()).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Quarantined, "it is handed to nobody");
    let intended = store.intend("post-1", MINUTE, 1, None).await.unwrap();
    assert!(matches!(intended, Intended::Known(known) if known.state == IntentState::Unknown));
    assert!(store.orders_checked().await.unwrap());
    assert!(matches!(store.intend("post-1", MINUTE, 1, None).await.unwrap(), Intended::Begun(_)));
    assert!(store.record(arrival("job_9", "{}")).await.unwrap().is_stored());
}
