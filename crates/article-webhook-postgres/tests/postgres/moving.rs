//! An inbox and its ledger move from a file into the database, and back.

use std::io::Cursor;
use std::time::Duration;

use article_webhook::{
    Reply, Sink,
    fixture::{self, Defect},
};
use article_webhook_inbox::{
    Digest, EntryKey, Inbox, Reason, SqliteStore, State,
    store::{
        ApiAnswer, BucketEvent, BucketSettings, Claim, Expect, Intended, Outcome, PollClaim,
        PollOutcome, Recorded, Settled, Store,
    },
};
use serde_json::Value;

use crate::{CLAIM, Scene, arrival, scene::wait};

const HOUR: Duration = Duration::from_secs(3600);
const BUCKET: BucketSettings = BucketSettings { per_minute: 30, burst: 5, key: 7 };

/// Entries in every state, one with bodies that differ, jobs and intents in several states, and a bucket that pauses.
async fn fill(store: &SqliteStore, inbox: &Inbox) {
    let soon = store.now() + HOUR;
    let moment = Duration::from_millis(1);
    for (post, within) in [("post-1", HOUR), ("post-2", HOUR), ("post-3", moment)] {
        assert!(matches!(
            store.intend(post, within, BUCKET.key, None).await.unwrap(),
            Intended::Begun(_)
        ));
    }
    tokio::time::sleep(moment * 5).await;
    assert!(store.abandon("post-3").await.unwrap());
    store.ordered("post-1", "job_1".parse().unwrap(), soon, BUCKET.key).await.unwrap();
    for job in ["job_1", "job_2", "job_3"] {
        let delivery = fixture::complete().job_id(job).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    }
    let key = EntryKey::article("job_2".parse().unwrap());
    assert!(inbox.discard(key, "not wanted").await.unwrap());
    settle_each(store, inbox).await;

    let reason = Reason::Refused { code: "too_large".into() };
    let refused = Expect { reason, ..Expect::job("job_4".parse().unwrap(), soon) };
    let due = |id: &str| Expect::job(id.parse().unwrap(), store.now());
    store.expect(vec![refused, due("job_5"), due("job_6")]).await.unwrap();
    let answer = ApiAnswer { target: "api".into(), digest: Digest::of(b"{}"), bytes: "{}".into() };
    let outcomes = [
        PollOutcome::Missing { after: HOUR, cause: "job_not_found".into() },
        PollOutcome::Failed { answer, cause: "generation_failed".into() },
    ];
    for outcome in outcomes {
        let claim = PollClaim { limit: 1, lease: HOUR, bucket: BUCKET };
        let lease = store.claim_polls(claim).await.unwrap().polls[0].lease;
        store.settle_poll(lease, outcome, BUCKET.key).await.unwrap();
    }
    store.report(BucketEvent::RateLimited { retry_after: Duration::from_secs(60) }).await.unwrap();
    store.report(BucketEvent::Unavailable { retry_after: HOUR }).await.unwrap();
    store.report(BucketEvent::KeyRefused { key: BUCKET.key }).await.unwrap();
}

/// Adds an entry in each state that a worker leaves behind.
async fn settle_each(store: &SqliteStore, inbox: &Inbox) {
    let outcomes = [
        ("done", Some(Outcome::Done)),
        ("retried", Some(Outcome::Retry { after: HOUR, cause: "not now".into() })),
        ("dead", Some(Outcome::Dead { cause: "never".into() })),
        ("unhandled", Some(Outcome::Unhandled { seen: 1, cause: "no handler".into() })),
        ("corrupt", Some(Outcome::Corrupt { seen: 1, cause: "damaged".into() })),
        ("leased", None),
    ];
    for (job, _) in &outcomes {
        let delivery = fixture::complete().job_id(job).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    }
    for claimed in store.claim(Claim { lease: HOUR, ..CLAIM }).await.unwrap().claimed {
        let is_it = |(job, _): &&(&str, _)| *job == claimed.key.job_id.as_str();
        let outcome = match outcomes.iter().find(is_it) {
            Some((_, outcome)) => outcome.clone(),
            None => Some(Outcome::Released),
        };
        if let Some(outcome) = outcome {
            assert_eq!(store.settle(claimed.lease, outcome).await.unwrap(), Settled::Settled);
        }
    }
    // Two bodies of one article that differ.
    let other = store.record(arrival("job_3", "{}")).await.unwrap();
    assert_eq!(other, Recorded::Conflict { kept: true });
    let cut = fixture::complete().job_id("quarantined").defect(Defect::TruncatedBody);
    let opened = fixture::receiver().open(cut.headers()).unwrap();
    inbox.keep_refused(opened.read(cut.bytes().clone()).unwrap_err()).await;
    let counts = inbox.counts().await.unwrap();
    for &state in State::ALL {
        assert!(counts.of(state) > 0, "{state}");
    }
}

/// The lines of an export without that of the bucket, which fills as time passes, and the end; and the line of the entry that
/// was leased.
fn lines_of(export: &str) -> (Vec<&str>, Value) {
    let is_moved = |line: &&str| {
        !["bucket", "end"]
            .map(|kind| format!("{{\"kind\":\"{kind}\""))
            .iter()
            .any(|kind| line.starts_with(kind))
    };
    let lines = export.lines().filter(is_moved);
    let (leased, mut others): (Vec<_>, Vec<_>) =
        lines.partition(|line| line.contains(r#""leased""#));
    // An entry is numbered when its job is named first, which may be by what the ledger knows of it.
    others.sort_unstable();
    let [leased] = leased[..] else { panic!("{leased:?}") };
    (others, serde_json::from_str(leased).unwrap())
}

/// Only the lease stays behind.
fn is_due(there: &Value, mut leased: Value) {
    assert_eq!((&there["state"], &leased["state"]), (&"waiting".into(), &"leased".into()));
    for field in ["state", "at", "since"] {
        leased[field] = there[field].clone();
    }
    assert_eq!(*there, leased);
}

async fn exported(inbox: &Inbox) -> String {
    let mut lines = Vec::new();
    inbox.export(&mut lines).await.unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn an_inbox_moves_with_its_ledger_from_a_file_into_the_database_and_back() {
    let Some((_, database)) = Scene::opened() else { return };
    wait(async move {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteStore::open(folder.path().join("inbox.db")).unwrap();
        let back = SqliteStore::open(folder.path().join("back.db")).unwrap();
        let [from, there, again] =
            [Inbox::new(file.clone()), Inbox::new(database.clone()), Inbox::new(back.clone())];
        fill(&file, &from).await;

        let lines = exported(&from).await;
        let imported = there.import(Cursor::new(&lines)).await.unwrap();
        assert_eq!((imported.added, imported.present), (11, 0));
        assert_eq!(imported.ledger_added, 8, "five jobs and three intents");
        let moved = exported(&there).await;
        let ((entries, leased), (entries_there, due)) = (lines_of(&lines), lines_of(&moved));
        assert_eq!(entries_there, entries);
        is_due(&due, leased);

        let imported = again.import(Cursor::new(&moved)).await.unwrap();
        assert_eq!((imported.added, imported.ledger_added), (11, 8));
        assert_eq!(lines_of(&exported(&again).await), (entries, due));
        let (here, there_too) = (file.bucket().await.unwrap(), back.bucket().await.unwrap());
        assert_eq!(here, there_too);
        assert!(here.pause.is_some() && here.key_refused_at.is_some());

        // The pause of the service and the refused key hold wherever it is.
        let intended = database.intend("post-9", HOUR, BUCKET.key, None).await.unwrap();
        assert!(matches!(intended, Intended::Paused(_)), "{intended:?}");
        let again = there.import(Cursor::new(&lines)).await.unwrap();
        assert_eq!((again.added, again.present, again.ledger_added), (0, 11, 0));
    });
}
