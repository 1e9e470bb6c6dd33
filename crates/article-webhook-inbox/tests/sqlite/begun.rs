//! The quickest way on after damage, as the refusal of the start says: a receiver goes on in a new file, the damaged one is
//! salvaged beside it, and a copy merges both while deliveries and orders arrive.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{
    Inbox, IntentState, Job, Prune, SqliteStore, State, Worker,
    store::{Export, Intended, Merge, Progress, Store},
};

use super::{Fixture, alter, copy, key, spoil_page, within};

const MINUTE: Duration = Duration::from_secs(60);

/// How often each job was handled, and each order made.
type Counts = Arc<Mutex<BTreeMap<String, u32>>>;

fn count(counts: &Counts, of: &str) {
    *counts.lock().unwrap().entry(of.to_owned()).or_default() += 1;
}

async fn deliver(inbox: &Inbox, jobs: std::ops::Range<u32>) {
    for job in jobs {
        let delivery = fixture::complete().job_id(&format!("job_{job}")).delivery().unwrap();
        assert!([Reply::Stored, Reply::Duplicate].contains(&inbox.accept(delivery).await));
    }
}

fn worker(inbox: &Inbox, handled: &Counts) -> Worker {
    let handled = Arc::clone(handled);
    inbox.worker(move |job: Job| {
        count(&handled, job.job_id().as_str());
        async { Ok(()) }
    })
}

/// An order that the application makes whenever it does not know its outcome.
async fn order(inbox: &Inbox, name: &str, orders: &Counts) {
    if let Intended::Begun(_) = inbox.ledger().intend(name, MINUTE, 1, None).await.unwrap() {
        count(orders, name);
    }
}

/// Whether the lock file of the damaged inbox is there, which says how far was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Record {
    There,
    Lost,
}

/// A damaged inbox: `job_0` to `job_19` are done, and retention has removed the first ten; `job_20` to `job_39` wait. `post-1` and
/// `post-2` were ordered, and what became of the second is not known.
async fn damaged(record: Record, handled: &Counts, orders: &Counts) -> Fixture {
    let fixture = Fixture::new();
    let store = fixture.open();
    let inbox = Inbox::new(store.clone());
    for jobs in [0..10, 10..20] {
        deliver(&inbox, jobs).await;
        worker(&inbox, handled).run_until_idle().await.unwrap();
        let now = fixture.clock.now() + MINUTE;
        let prune =
            Prune { bodies_before: now, entries_before: now, limit: 100, ..Prune::default() };
        if handled.lock().unwrap().len() == 10 {
            while store.prune(prune).await.unwrap().more {}
        }
    }
    deliver(&inbox, 20..40).await;
    order(&inbox, "post-1", orders).await;
    store.ordered("post-1", "job_ordered".parse().unwrap(), fixture.clock.now(), 1).await.unwrap();
    order(&inbox, "post-2", orders).await;

    let damaged = fixture.after_a_kill();
    if record == Record::There {
        copy(&fixture.beside("-lock"), &damaged.beside("-lock"));
    }
    damaged.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    alter(&damaged.path, |bytes| {
        let at = bytes.windows(8).rposition(|found| found == b"\"job_25\"").unwrap();
        spoil_page(bytes, at);
    });
    damaged
}

fn beside(fixture: &Fixture, name: &str) -> PathBuf {
    fixture.path.with_file_name(name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_handled_or_ordered_twice_while_a_salvage_is_merged() {
    for record in [Record::There, Record::Lost] {
        let (handled, orders) = (Counts::default(), Counts::default());
        let damaged = damaged(record, &handled, &orders).await;
        let refusal = SqliteStore::open(&damaged.path).unwrap_err().to_string();
        assert!(refusal.contains("`article-webhook inbox salvage --begin NEW`"), "{refusal}");

        let new = beside(&damaged, "new.db");
        SqliteStore::begin_salvage(&new).unwrap();
        let inbox = Inbox::new(SqliteStore::open(&new).unwrap());
        let working = tokio::spawn(
            worker(&inbox, &handled)
                .poll(Duration::from_millis(20))
                .run(std::future::pending::<()>()),
        );
        let rounds = Counts::default();
        let traffic = {
            let (inbox, orders, rounds) = (inbox.clone(), Arc::clone(&orders), Arc::clone(&rounds));
            tokio::spawn(async move {
                loop {
                    deliver(&inbox, 0..60).await;
                    for name in ["post-1", "post-2", "post-3"] {
                        order(&inbox, name, &orders).await;
                    }
                    count(&rounds, "rounds");
                }
            })
        };
        let rounds = || rounds.lock().unwrap().get("rounds").copied().unwrap_or_default();
        within(60, async || rounds() > 0).await;
        let waiting = inbox.counts().await.unwrap().of(State::Waiting);
        assert_eq!((waiting, handled.lock().unwrap().len()), (60, 20), "nothing is handed out");

        let (from, to) = (damaged.path.clone(), beside(&damaged, "salvaged.db"));
        let salvage = tokio::task::spawn_blocking(move || SqliteStore::salvage(from, to));
        let salvaged = salvage.await.unwrap().unwrap();
        let from = Inbox::open(beside(&damaged, "salvaged.db")).await.unwrap();
        inbox.copy_from(&from).await.unwrap();
        let copied = rounds();
        let health = inbox.health().await;
        assert_eq!(health.paused_since.unwrap(), None);
        assert_eq!(health.ledger.unwrap().counts.gaps_since.is_some(), salvaged.ledger_has_gaps);
        let idle = async || {
            let counts = inbox.counts().await.unwrap();
            counts.of(State::Waiting) + counts.of(State::Leased) == 0
        };
        within(60, async || rounds() > copied + 1 && idle().await).await;
        traffic.abort();
        working.abort();

        let entries = |job: u32| inbox.show(key(&format!("job_{job}")));
        for job in 0..60 {
            let times = handled.lock().unwrap().get(&format!("job_{job}")).copied();
            let state = entries(job).await.unwrap().unwrap().0.state;
            match record {
                // What waited may have been handled, as far as the salvage knows. A person looks.
                Record::Lost if times.is_none() => {
                    assert!((20..40).contains(&job) && state == State::Dead, "job_{job} {state}");
                }
                _ => assert_eq!((times, state), (Some(1), State::Done), "job_{job} {record:?}"),
            }
        }
        let made = |name: &str| orders.lock().unwrap().get(name).copied();
        assert_eq!((made("post-1"), made("post-2")), (Some(1), Some(1)));
        assert_eq!(made("post-3").is_some(), !salvaged.ledger_has_gaps, "{record:?}");
    }
}

#[tokio::test]
async fn a_copy_that_was_interrupted_is_made_again() {
    let (handled, orders) = (Counts::default(), Counts::default());
    let damaged = damaged(Record::There, &handled, &orders).await;
    let [new, salvaged] = ["new.db", "salvaged.db"].map(|name| beside(&damaged, name));
    SqliteStore::begin_salvage(&new).unwrap();
    SqliteStore::salvage(&damaged.path, &salvaged).unwrap();
    let (inbox, from) = (Inbox::open(&new).await.unwrap(), Inbox::open(&salvaged).await.unwrap());
    let state = async || {
        let known = inbox.ledger().intend("post-9", MINUTE, 1, None).await.unwrap();
        let is_unknown =
            matches!(known, Intended::Known(known) if known.state == IntentState::Unknown);
        (inbox.health().await.paused_since.unwrap().is_some(), is_unknown)
    };
    deliver(&inbox, 0..60).await;
    let first = from.ledger().export(Export::Entry(key("job_10"))).await.unwrap();
    inbox.ledger().merge(Merge::Lines(first.items)).await.unwrap();
    assert_eq!(state().await, (true, true), "a part of a copy ends nothing");
    let closed = Inbox::open(beside(&damaged, "closed.db")).await.unwrap();
    closed.close().await.unwrap();
    assert!(inbox.copy_from(&closed).await.is_err());
    assert_eq!(state().await, (true, true));

    let progress = Progress::default();
    let copied = inbox.copy_with(&from, &progress).await.unwrap();
    let (done, whole) = progress.get().unwrap();
    assert!(done >= whole && whole >= copied.present, "{done} of {whole}");
    assert_eq!((copied.added, copied.present), (0, from.counts().await.unwrap().total()));
    assert_eq!(state().await, (false, false));
    let before = inbox.counts().await.unwrap();
    inbox.pause("ops@db1").await.unwrap();
    inbox.copy_from(&from).await.unwrap();
    assert_eq!(inbox.counts().await.unwrap(), before, "a second copy changes nothing");
    assert!(inbox.health().await.paused_since.unwrap().is_some(), "nor ends another pause");
}
