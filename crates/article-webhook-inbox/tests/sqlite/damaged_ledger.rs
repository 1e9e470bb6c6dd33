//! Damage of a row of the ledger costs that row, is told, and is mended by what comes next.

use std::{fs, time::Duration};

use article_webhook_inbox::{
    IntentState, JobFilter, JobState, SqliteStore, State,
    store::{AskOutcome, AskSettled, Intended, Ledger, Outcome, Recorded, Settled, Store},
};

use super::{
    CLAIM, Place, arrival,
    damage::{checked, findings},
    key,
    ledger::{ASKS, BUCKET, expect, job},
};

const MINUTE: Duration = Duration::from_secs(60);

/// A closed database whose ledger has `job_1` to `job_3`, all due, `job_4`, which arrived, and an intent.
async fn closed() -> Place {
    let place = Place::new();
    let store = place.open();
    expect(&store, &["job_1", "job_2", "job_3", "job_4"]).await;
    store.record(arrival("job_4", "{4}")).await.unwrap();
    store.ordered("post-17", job("job_1"), store.now(), 1).await.unwrap();
    store.close().await.unwrap();
    place
}

async fn states(store: &SqliteStore) -> Vec<(String, JobState)> {
    let jobs = store.jobs(JobFilter::default()).await.unwrap().items.into_iter();
    jobs.map(|job| (job.job_id.to_string(), job.state)).collect()
}

/// Each damage of the row of `job_2`, and what is told of it.
const JOBS: [(&str, &str); 13] = [
    ("asks = asks + 1", "its lane is damaged"),
    ("at = at + 3600000", "its checksum does not match"),
    ("at = 1 << 62", "its checksum does not match"),
    ("expected_at = 7", "its checksum does not match"),
    ("lane = 1", "its lane is damaged"),
    ("lane = NULL", "its lane is damaged"),
    ("asks = -1", "its asks is damaged"),
    ("fence = fence + (1 << 62)", "its checksum does not match"),
    ("state = 'expectee'", "its state is damaged"),
    ("reason = 'because'", "its reason is damaged"),
    ("missing = 3", "its missing is damaged"),
    ("returned = x'00'", "its returned is damaged"),
    ("cause = CAST(x'ff' AS TEXT)", "its cause is damaged"),
];

#[tokio::test]
async fn a_damaged_job_is_told_and_mended_at_start() {
    for (damage, cause) in JOBS {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_jobs SET {damage} WHERE id = 2"));
        let store = place.open();
        let told = findings(&store).await;
        assert_eq!(told.len(), 1, "{damage}: {told:?}");
        let expected = format!("job 2 of the ledger, job_2: {cause}; it is taken for expected");
        assert_eq!(told[0], expected, "{damage}");
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
        assert_eq!(store.claim_asks(ASKS).await.unwrap().asks.len(), 3, "{damage}");
        assert_eq!(store.ledger_counts().await.unwrap().of(JobState::Asking), 3, "{damage}");

        // Once and for all.
        store.close().await.unwrap();
        assert_eq!(findings(&place.open()).await, [""; 0], "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_job_stops_no_call_while_the_store_is_open() {
    for (damage, cause) in JOBS {
        let place = closed().await;
        let store = place.open();
        place.damage(&format!("UPDATE article_inbox_jobs SET {damage} WHERE id = 2"));
        let checked = checked(&store).await;
        let says = "job 2 of the ledger: its row is damaged, start the receiver again";
        assert_eq!(checked, [says], "{damage}");
        store.ledger_counts().await.unwrap();
        assert_eq!(states(&store).await.len(), 4, "{damage}");
        assert!(findings(&store).await.iter().any(|told| told.contains(cause)), "{damage}");
        // Whatever an index says of it, the others are asked for, and it is mended by what comes next.
        assert!(store.claim_asks(ASKS).await.unwrap().asks.len() >= 2, "{damage}");
        expect(&store, &["job_2"]).await;
        store.claim_asks(ASKS).await.unwrap();
        assert_eq!(store.job(job("job_2")).await.unwrap().unwrap().state, JobState::Asking);
        assert!(store.record(arrival("job_2", "{2}")).await.unwrap().is_stored());
        assert_eq!(store.job(job("job_2")).await.unwrap().unwrap().state, JobState::Arrived);
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

/// The end of a job outlives its entry, and keeps an article from being handled twice.
#[tokio::test]
async fn a_damaged_job_stays_what_its_state_and_its_entry_say() {
    for (damage, state) in [
        ("at = 7", JobState::Arrived),
        ("state = 'arriveb'", JobState::Arrived),
        ("state = 'collected'", JobState::Collected),
        ("state = 'expected', lane = 0", JobState::Arrived),
    ] {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_jobs SET {damage} WHERE id = 4"));
        let store = place.open();
        assert_eq!(states(&store).await[3], ("job_4".into(), state), "{damage}");
        assert_eq!(store.record(arrival("job_4", "{4}")).await.unwrap(), Recorded::Duplicate);
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

#[tokio::test]
async fn a_job_without_a_readable_id_is_removed_and_told() {
    for damage in ["job_id = CAST(x'6a6f62ff32' AS TEXT)", "job_id = ''"] {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_jobs SET {damage} WHERE id = 2"));
        let store = place.open();
        let told =
            "job 2 of the ledger: its job_id is damaged; it was removed; expect its job again";
        assert_eq!(findings(&store).await, [told]);
        assert_eq!(states(&store).await.len(), 3);
        expect(&store, &["job_2"]).await;
        assert_eq!(store.claim_asks(ASKS).await.unwrap().asks.len(), 3);
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

#[tokio::test]
async fn a_job_that_is_there_twice_is_left_once() {
    let place = closed().await;
    place.damage("UPDATE article_inbox_jobs SET job_id = 'job_4', checksum = NULL WHERE id = 2");
    let store = place.open();
    let told = "job 2 of the ledger was there twice, and was removed";
    assert_eq!(findings(&store).await, [told]);
    let expected = [
        ("job_1", JobState::Expected),
        ("job_3", JobState::Expected),
        ("job_4", JobState::Arrived),
    ];
    assert_eq!(states(&store).await, expected.map(|(job, state)| (job.to_owned(), state)));
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test]
async fn a_damaged_intent_is_never_ordered_twice() {
    for damage in [
        "at = at + 1",
        "state = 'ordereb'",
        "state = ''",
        "created_at = 7",
        "fence = -1",
        "job_id = ''",
    ] {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_intents SET {damage}"));
        let store = place.open();
        let told = findings(&store).await;
        assert!(told.len() == 1 && told[0].contains("of the ledger, post-17: its "), "{told:?}");
        let Intended::Known(intent) = store.intend("post-17", MINUTE, BUCKET).await.unwrap() else {
            panic!("{damage}: it is known")
        };
        assert_eq!(intent.state, IntentState::Ordered, "{damage}");
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

/// A bit of its name changes in the table, or in an index, before the start or while the store is open. The second bit makes
/// it no text.
#[tokio::test]
async fn an_intent_whose_name_lost_a_bit_is_not_ordered_twice() {
    for (bit, is_open) in [(0x01, false), (0x01, true), (0x80, false), (0x80, true)] {
        for copy in 0.. {
            let about = format!("bit {bit} of copy {copy}, open: {is_open}");
            let place = closed().await;
            let mut file = fs::read(&place.path).unwrap();
            let copies = file.windows(7).enumerate().filter(|(_, bytes)| bytes == b"post-17");
            let Some((at, _)) = copies.collect::<Vec<_>>().get(copy).copied() else {
                assert!(copy >= 2, "it is in the table and in an index");
                break;
            };
            file[at + 6] ^= bit;
            let opened = is_open.then(|| place.open());
            fs::write(&place.path, &file).unwrap();
            if is_open {
                // What another program writes makes the store read its pages again.
                place.sql().execute_batch("UPDATE article_inbox_jobs SET asks = asks").unwrap();
            }
            let store = opened.unwrap_or_else(|| place.open());
            let intended = store.intend("post-17", MINUTE, BUCKET).await.unwrap();
            let Intended::Known(intent) = intended else { panic!("{about}: it is known") };
            assert_eq!(intent.state, IntentState::Ordered, "{about}");
            // While it is open, nothing looks at a copy that no call needs.
            let told = findings(&store).await;
            assert!(is_open || !told.is_empty(), "{about}: a person is told");
            assert_eq!(
                store.check().await.unwrap().is_empty(),
                !is_open || !told.is_empty(),
                "{about}"
            );
        }
    }
}

#[tokio::test]
async fn a_damaged_bucket_begins_anew() {
    for damage in ["used = used + 1", "turn = 300", "refused = x'07'", "refilled_at = 1 << 62"] {
        let place = closed().await;
        let store = place.open();
        store.claim_asks(ASKS).await.unwrap();
        place.damage(&format!("UPDATE article_inbox_bucket SET {damage}"));
        assert_eq!(
            checked(&store).await,
            ["the bucket of asks is damaged, start the receiver again"]
        );
        assert_eq!(store.bucket().await.unwrap().used, 0, "{damage}");
        store.close().await.unwrap();
        let store = place.open();
        assert_eq!(findings(&store).await.len(), 1, "{damage}");
        assert_eq!(store.claim_asks(ASKS).await.unwrap().asks.len(), 3, "{damage}");
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

/// An entry whose row or whose bodies are damaged is no article any more.
#[tokio::test]
async fn the_job_of_an_entry_that_becomes_corrupt_is_asked_for() {
    for damage in [
        "UPDATE article_inbox_entries SET attempts = attempts + 1",
        "UPDATE article_inbox_bodies SET digest = x'00'",
        "DELETE FROM article_inbox_bodies",
    ] {
        // Found at start, or by a claim.
        for is_open in [false, true] {
            let place = closed().await;
            let mut store = place.open();
            if is_open {
                place.damage(damage);
            } else {
                store.close().await.unwrap();
                place.damage(damage);
                store = place.open();
            }
            assert_eq!(store.claim(CLAIM).await.unwrap().claimed, [], "{damage}");
            let (entry, _) = store.show(key("job_4")).await.unwrap().unwrap();
            assert_eq!(entry.state, State::Corrupt, "{damage}");
            let asks = store.claim_asks(ASKS).await.unwrap().asks;
            let asked = asks.iter().find(|ask| ask.job.job_id == job("job_4"));
            let asked = asked.unwrap_or_else(|| panic!("{damage}: it is asked for")).lease;
            let answer = article_webhook_inbox::store::ApiAnswer {
                target: "api".into(),
                digest: article_webhook_inbox::Digest::of(b"{4}"),
                bytes: "{4}".into(),
            };
            let settled = store.settle_ask(asked, AskOutcome::Answered(answer), 1).await.unwrap();
            assert_eq!(settled, AskSettled::Settled(JobState::Collected), "{damage}");
            let claimed = store.claim(CLAIM).await.unwrap().claimed.remove(0);
            assert_eq!(store.settle(claimed.lease, Outcome::Done).await.unwrap(), Settled::Settled);
        }
    }
}
