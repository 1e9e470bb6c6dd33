//! A backup has everything that was acknowledged, and a restore loses nothing without a word.
#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, time::Duration};

use article_webhook_inbox::{
    Inbox, IntentState, JobFilter, JobState, Prune, SqliteStore, State,
    store::{Expect, Intended, Outcome, Recorded, Store},
};

use super::{CLAIM, FILES, Fixture, alter, arrival, copy, key, record, spoil_page, within};

const MINUTE: Duration = Duration::from_secs(60);

impl Fixture {
    /// The file that the advice calls `BACKUP`.
    fn backup(&self) -> PathBuf {
        self.path.with_file_name("backup.db")
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.path.parent().unwrap()).unwrap();
        let mut names: Vec<_> =
            names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Deliveries, a backup, deliveries and orders, and a job that the receiver keeps; then an orderly stop.
    async fn after_a_backup(&self) {
        let store = self.open();
        record(&store, 0..3).await;
        store.intend("post-1", MINUTE, 1, None).await.unwrap();
        SqliteStore::backup(&self.path, self.backup()).unwrap();
        record(&store, 3..5).await;
        let lease = store.claim(CLAIM).await.unwrap().claimed[0].lease;
        store.settle(lease, Outcome::Done).await.unwrap();
        store.ordered("post-1", "job_ordered".parse().unwrap(), self.clock.now(), 1).await.unwrap();
        store.intend("post-2", MINUTE, 1, None).await.unwrap();
        assert_eq!(store.keep(&[Expect::job("job_kept".parse().unwrap(), self.clock.now())]), 1);
        store.close().await.unwrap();
    }

    fn restore_command(&self) -> String {
        format!("`article-webhook inbox restore BACKUP {}`", self.shown())
    }
}

/// The ids of the jobs that the inbox expects, once those that were kept are among them.
async fn expected(inbox: &Inbox) -> Vec<String> {
    within(20, async || inbox.health().await.expected_held == 0).await;
    let filter = JobFilter { state: Some(JobState::Expected), ..JobFilter::default() };
    let jobs = inbox.jobs(filter).await.unwrap().items;
    let mut ids: Vec<_> = jobs.iter().map(|job| job.job_id.to_string()).collect();
    ids.sort();
    ids
}

async fn intent(store: &SqliteStore, name: &str) -> Option<IntentState> {
    match store.intend(name, MINUTE, 1, None).await.unwrap() {
        Intended::Known(known) => Some(known.state),
        _ => None,
    }
}

fn spoil_last_page(bytes: &mut [u8]) {
    let last = bytes.len() - 1;
    spoil_page(bytes, last);
}

#[tokio::test]
async fn a_backup_of_a_file_in_use_has_everything() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..3).await;
    let backup = SqliteStore::backup(&fixture.path, fixture.backup()).unwrap();
    let metadata = fixture.backup().metadata().unwrap();
    assert_eq!((backup.entries, backup.jobs, backup.bytes), (3, 0, metadata.len()));
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let names = ["backup.db", "inbox.db", "inbox.db-lock", "inbox.db-shm", "inbox.db-wal"];
    assert_eq!(fixture.names(), names, "one file is added");

    record(&store, 3..4).await;
    let error = SqliteStore::backup(&fixture.path, fixture.backup()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{} exists: name a new file", fixture.backup().display())
    );
    let copied = SqliteStore::open(fixture.backup()).unwrap();
    assert_eq!(copied.counts().await.unwrap().total(), 3);
}

#[tokio::test]
async fn there_is_no_backup_of_what_is_not_whole() {
    let refused = |fixture: &Fixture| {
        let before = fixture.names();
        let error = SqliteStore::backup(&fixture.path, fixture.backup()).unwrap_err();
        let mut after = fixture.names();
        after.retain(|name| !["inbox.db-shm", "inbox.db-wal"].contains(&&**name));
        assert!(after.iter().all(|name| before.contains(name)), "{after:?}");
        error.to_string()
    };
    let fixture = Fixture::new();
    let missing = format!("{} does not exist: name the database", fixture.shown());
    assert_eq!(refused(&fixture), missing);
    let store = fixture.open();
    record(&store, 0..9).await;
    let killed = fixture.copied(&["", "-lock"]);
    assert!(refused(&killed).contains("lacks the last 9 changes"), "its log was removed");

    store.close().await.unwrap();
    alter(&fixture.path, |bytes| spoil_last_page(bytes));
    let says = refused(&fixture);
    assert!(
        says.contains(" is damaged (") && says.contains("stop the receiver and start it"),
        "{says}"
    );
}

/// The advice of a start that finds an older copy beside the lock.
#[tokio::test]
async fn a_backup_over_the_old_place_is_restored_as_the_refusal_says() {
    let fixture = Fixture::new();
    fixture.after_a_backup().await;
    copy(&fixture.backup(), &fixture.path);
    let refusal = fixture.refused();
    assert!(refusal.contains(&fixture.restore_command()), "{refusal}");

    let restored = SqliteStore::restore(fixture.backup(), &fixture.path).unwrap();
    assert_eq!(restored.missing, []);
    let unread = restored.unread.unwrap();
    assert_eq!(unread, "the last 6 changes of the old file cannot be read");
    let inbox = Inbox::new(fixture.open());
    assert_eq!(expected(&inbox).await, ["job_kept"], "the lock file keeps it");
    inbox.close().await.unwrap();
    drop(inbox);
    let store = fixture.open();
    assert_eq!(intent(&store, "post-2").await, Some(IntentState::Unknown), "it may be ordered");
    assert!(store.orders_checked().await.unwrap());
}

#[tokio::test]
async fn what_was_acknowledged_since_is_expected_and_the_ledger_is_carried_over() {
    let fixture = Fixture::new();
    fixture.after_a_backup().await;
    let restored = SqliteStore::restore(fixture.backup(), &fixture.path).unwrap();
    let missing: Vec<_> = restored.missing.iter().map(ToString::to_string).collect();
    assert_eq!((missing, restored.unread), (vec!["job_3".to_owned(), "job_4".to_owned()], None));
    assert!(!restored.was_in_use);
    assert_eq!((restored.backup.entries, restored.backup.jobs), (3, 3));

    let inbox = Inbox::new(fixture.open());
    assert_eq!(expected(&inbox).await, ["job_3", "job_4", "job_kept", "job_ordered"]);
    inbox.close().await.unwrap();
    drop(inbox);
    let store = fixture.open();
    assert_eq!(intent(&store, "post-1").await, Some(IntentState::Ordered));
    assert!(intent(&store, "post-2").await.is_some(), "it is not ordered again");
    assert_eq!(intent(&store, "post-3").await, None, "nothing is missing in the ledger");

    // The old file has what was done since.
    let old = SqliteStore::open(restored.moved_to.unwrap()).unwrap();
    let [old, restored] = [old, store.clone()].map(Inbox::new);
    restored.copy_from(&old).await.unwrap();
    assert_eq!(store.show(key("job_0")).await.unwrap().unwrap().0.state, State::Done);
    assert_eq!(store.counts().await.unwrap().of(State::Waiting), 4);
}

#[tokio::test]
async fn what_was_done_and_removed_since_is_not_handled_again() {
    let fixture = Fixture::new();
    let store = fixture.open();
    record(&store, 0..1).await;
    SqliteStore::backup(&fixture.path, fixture.backup()).unwrap();
    record(&store, 1..2).await;
    for claimed in store.claim(CLAIM).await.unwrap().claimed {
        store.settle(claimed.lease, Outcome::Done).await.unwrap();
    }
    let now = fixture.clock.now() + MINUTE;
    let prune = Prune { bodies_before: now, entries_before: now, limit: 100, ..Prune::default() };
    while store.prune(prune).await.unwrap().more {}
    assert_eq!(store.counts().await.unwrap().total(), 0);
    store.close().await.unwrap();
    drop(store);

    SqliteStore::restore(fixture.backup(), &fixture.path).unwrap();
    let store = fixture.open();
    let again = store.record(arrival("job_1", &[b'a'; 4000])).await.unwrap();
    assert_eq!(again, Recorded::Duplicate);
    // What the backup has waits again: the old file has its end, and is copied next.
    let waiting = store.claim(CLAIM).await.unwrap().claimed;
    assert_eq!(waiting.iter().map(|it| it.key.clone()).collect::<Vec<_>>(), [key("job_0")]);
}

#[tokio::test]
async fn a_restore_keeps_every_old_file_and_begins_a_new_record() {
    let fixture = Fixture::new();
    fixture.after_a_backup().await;
    let old = FILES.map(|ending| fs::read(fixture.beside(ending)).ok());
    for name in ["inbox.db-before-restore", "inbox.db-before-restore-2"] {
        let restored = SqliteStore::restore(fixture.backup(), &fixture.path).unwrap();
        assert_eq!(restored.moved_to, Some(fixture.path.with_file_name(name)));
        assert_eq!(fixture.total().await, 3);
    }
    let moved =
        FILES.map(|ending| fs::read(fixture.beside(&format!("-before-restore{ending}"))).ok());
    assert!(moved == old, "byte for byte, with its record");

    // The old file in the place of the restored one is missed, although it counts further.
    copy(&fixture.beside("-before-restore"), &fixture.path);
    assert!(fixture.refused().contains("is not the database that was here last"));
}

#[tokio::test]
async fn a_database_that_is_gone_is_restored_as_the_refusal_says() {
    let fixture = Fixture::new();
    fixture.after_a_backup().await;
    fs::rename(&fixture.path, fixture.beside("-away")).unwrap();
    assert!(fixture.refused().contains(&fixture.restore_command()));
    let restored = SqliteStore::restore(fixture.backup(), &fixture.path).unwrap();
    let unread = (restored.moved_to, restored.unread.unwrap());
    assert_eq!(unread, (None, "the old file is missing".to_owned()));
    let inbox = Inbox::new(fixture.open());
    assert_eq!(expected(&inbox).await, ["job_kept"]);
    drop(inbox);

    // What cannot be read is kept as well, and a log that is left alone.
    for (ending, unread) in
        [("", "the old file cannot be read"), ("-wal", "the old file is missing")]
    {
        fs::rename(&fixture.path, fixture.beside("-away")).unwrap();
        fs::write(fixture.beside(ending), "no database ".repeat(1000)).unwrap();
        let restored = SqliteStore::restore(fixture.backup(), &fixture.path).unwrap();
        assert_eq!(restored.unread.as_deref(), Some(unread));
        assert!(restored.moved_to.is_some());
        assert_eq!(fixture.total().await, 3);
    }

    // Where the machine was lost, not even its lock is there. A receiver may have begun another inbox meanwhile.
    let elsewhere = |name: &str| fixture.path.with_file_name(name);
    fs::write(elsewhere("empty.db"), "").unwrap();
    Inbox::open(elsewhere("begun.db")).await.unwrap().close().await.unwrap();
    for (name, unread) in [
        ("lost.db", "the old file is missing"),
        ("empty.db", "the old file has no inbox"),
        ("begun.db", "the old file is not the one that was backed up"),
    ] {
        let restored = SqliteStore::restore(fixture.backup(), elsewhere(name)).unwrap();
        assert_eq!(restored.unread.as_deref(), Some(unread), "{name}");
        let store = SqliteStore::open(elsewhere(name)).unwrap();
        assert!(store.orders_checked().await.unwrap(), "orders may be missing: {name}");
    }
}

#[tokio::test]
async fn a_restore_that_is_refused_changes_nothing() {
    let fixture = Fixture::new();
    fixture.after_a_backup().await;
    let damaged = fixture.beside("-damaged");
    copy(&fixture.backup(), &damaged);
    alter(&damaged, |bytes| spoil_last_page(bytes));
    let files = || {
        let bytes = |name: &String| fs::read(fixture.path.with_file_name(name)).unwrap();
        fixture.names().into_iter().map(|name| (bytes(&name), name)).collect::<Vec<_>>()
    };
    let before = files();
    let says = SqliteStore::restore(damaged, &fixture.path).unwrap_err().to_string();
    assert!(files() == before, "{says}");
    assert!(
        says.contains("-damaged is damaged (") && says.contains("restore another backup"),
        "{says}"
    );

    let store = fixture.open();
    let error = SqliteStore::restore(fixture.backup(), &fixture.path).unwrap_err();
    assert!(error.to_string().starts_with("this process has"));
    assert_eq!(store.counts().await.unwrap().total(), 5);
}

/// Jobs that were kept in the lock file of a damaged inbox are not lost with it.
#[tokio::test]
async fn a_salvage_expects_the_jobs_that_were_kept() {
    let fixture = Fixture::new();
    fixture.after_a_backup().await;
    let new = fixture.path.with_file_name("new.db");
    assert!(SqliteStore::salvage(&fixture.path, &new).unwrap().is_whole());
    let inbox = Inbox::new(SqliteStore::open(&new).unwrap());
    assert_eq!(expected(&inbox).await, ["job_kept", "job_ordered"]);
}
