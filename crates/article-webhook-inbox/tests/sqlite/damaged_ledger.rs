//! Damage of a row of the ledger costs that row, and is reported. No order is made twice because of it.

use std::{fs, time::Duration};

use article_webhook_inbox::{
    IntentState, JobFilter, JobState, Reason, SqliteStore, State,
    store::{Intended, Outcome, PollOutcome, PollSettled, Recorded, Settled, Store},
};
use article_webhook_inbox_contract::{answer, job};

use super::{
    CLAIM, Fixture, arrival,
    damage::{checked, findings},
    key,
    ledger::{BUCKET, POLLS, expect},
};

const MINUTE: Duration = Duration::from_secs(60);

/// A closed database whose ledger has `job_1` to `job_3`, all due, `job_4`, which arrived, and an intent.
async fn closed() -> Fixture {
    let fixture = Fixture::new();
    let store = fixture.open();
    expect(&store, &["job_1", "job_2", "job_3", "job_4"]).await;
    store.record(arrival("job_4", "{4}")).await.unwrap();
    store.ordered("post-17", job("job_1"), store.now(), 1).await.unwrap();
    store.close().await.unwrap();
    fixture
}

async fn states(store: &SqliteStore) -> Vec<(String, JobState)> {
    let jobs = store.jobs(JobFilter::default()).await.unwrap().items.into_iter();
    jobs.map(|job| (job.job_id.to_string(), job.state)).collect()
}

/// The state of an intent that is not ordered again.
async fn known(store: &SqliteStore, name: &str) -> IntentState {
    match store.intend(name, MINUTE, BUCKET.key, None).await.unwrap() {
        Intended::Known(known) => known.state,
        other => panic!("{name} is known: {other:?}"),
    }
}

/// Each damage of what never changes of the row of `job_2`, and of its document.
const JOBS: [&str; 4] = [
    "document = '{'",
    "document = document || ' '",
    "document = CAST(x'ff' AS TEXT)",
    "checksum = checksum + 1",
];

#[tokio::test]
async fn a_damaged_job_keeps_its_state_and_loses_its_reason() {
    for damage in JOBS {
        let fixture = closed().await;
        let store = fixture.open();
        fixture.damage(&format!("UPDATE article_inbox_jobs SET {damage} WHERE job_id = 'job_2'"));
        let reported =
            "the job job_2 of the ledger: its checksum does not match; it is treated as expected";
        assert_eq!(checked(&store).await, [reported], "{damage}");
        let found = store.job(job("job_2")).await.unwrap().unwrap();
        assert_eq!((found.state, found.reason), (JobState::Expected, Reason::OrderedElsewhere));
        assert_eq!(findings(&store).await, [reported], "{damage}");
        assert_eq!(store.claim_polls(POLLS).await.unwrap().polls.len(), 3, "{damage}");
        assert!(store.record(arrival("job_2", "{2}")).await.unwrap().is_stored());
        assert_eq!(store.job(job("job_2")).await.unwrap().unwrap().state, JobState::Arrived);
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

/// The end of a job outlives its entry, and keeps an article from being handled twice.
#[tokio::test]
async fn the_job_of_an_article_that_was_here_stays_so_when_its_row_is_damaged() {
    for damage in JOBS {
        let fixture = closed().await;
        fixture.damage(&format!("UPDATE article_inbox_jobs SET {damage} WHERE job_id = 'job_4'"));
        fixture.damage("DELETE FROM article_inbox_entries");
        let store = fixture.open();
        assert_eq!(store.record(arrival("job_4", "{4}")).await.unwrap(), Recorded::Duplicate);
        assert_eq!(states(&store).await[3], ("job_4".into(), JobState::Arrived), "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_intent_is_never_ordered_again_by_itself() {
    for damage in
        ["document = '{'", "checksum = checksum + 1", "created_at = 7", "state = 'orderinf'"]
    {
        let fixture = closed().await;
        let store = fixture.open();
        let begun = store.intend("post-18", MINUTE, BUCKET.key, None).await.unwrap();
        assert!(matches!(begun, Intended::Begun(_)));
        fixture.damage(&format!("UPDATE article_inbox_intents SET {damage}"));
        // Its job is known from the column of its state.
        let ordered = match damage {
            "state = 'orderinf'" => IntentState::Unknown,
            _ => IntentState::Ordered,
        };
        for (name, expected) in [("post-17", ordered), ("post-18", IntentState::Unknown)] {
            assert_eq!(known(&store, name).await, expected, "{damage}: {name}");
        }
        let reported = findings(&store).await;
        let says = "the intent post-17: its checksum does not match; the outcome of its order is treated as unknown";
        assert!(reported.len() == 2 && reported[0] == says, "{reported:?}");
    }
}

/// A bit of its name changes in the table or in an index, while the receiver is stopped. The second bit makes it no text.
#[tokio::test]
async fn an_intent_whose_name_lost_a_bit_is_not_ordered_twice() {
    let mut refused = 0;
    for bit in [0x01, 0x80] {
        for copy in 0.. {
            let about = format!("bit {bit} of copy {copy}");
            let fixture = closed().await;
            let mut file = fs::read(&fixture.path).unwrap();
            let copies = file.windows(7).enumerate().filter(|(_, bytes)| bytes == b"post-17");
            let Some((at, _)) = copies.collect::<Vec<_>>().get(copy).copied() else {
                assert!(copy >= 2, "it is in the table and in an index");
                break;
            };
            file[at + 6] ^= bit;
            fs::write(&fixture.path, &file).unwrap();
            let store = match SqliteStore::open(&fixture.path) {
                Ok(store) => store,
                Err(error) => {
                    let says =
                        "is damaged (the name of an intent cannot be read): stop the receiver";
                    assert!(
                        error.is_damaged() && error.to_string().contains(says),
                        "{about}: {error}"
                    );
                    assert_eq!(fs::read(&fixture.path).unwrap(), file, "{about}: nothing changed");
                    refused += 1;
                    continue;
                }
            };
            assert_eq!(known(&store, "post-17").await, IntentState::Ordered, "{about}");
        }
    }
    assert_eq!(refused, 2, "the name in the table");
}

/// An entry whose row or whose bodies are damaged is no article any more.
#[tokio::test]
async fn the_job_of_a_damaged_entry_is_polled_again() {
    for damage in [
        "UPDATE article_inbox_entries SET document = '{'",
        "UPDATE article_inbox_bodies SET digest = x'00'",
        "DELETE FROM article_inbox_bodies",
    ] {
        let fixture = closed().await;
        fixture.damage(damage);
        let store = fixture.open();
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed, [], "{damage}");
        let (entry, _) = store.show(key("job_4")).await.unwrap().unwrap();
        assert_eq!(entry.state, State::Corrupt, "{damage}");
        let polls = store.claim_polls(POLLS).await.unwrap().polls;
        let polled = polls.iter().find(|poll| poll.job.job_id == job("job_4"));
        let polled = polled.unwrap_or_else(|| panic!("{damage}: it is polled")).lease;
        let answered = PollOutcome::Answered(answer("{4}"));
        let settled = store.settle_poll(polled, answered, 1).await.unwrap();
        assert_eq!(settled, PollSettled::Settled(JobState::Collected), "{damage}");
        let claimed = store.claim(CLAIM).await.unwrap().claimed.remove(0);
        assert_eq!(store.settle(claimed.lease, Outcome::Done).await.unwrap(), Settled::Settled);
    }
}
