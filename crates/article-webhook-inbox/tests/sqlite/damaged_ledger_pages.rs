//! Damage of the ledger's indexes and pages.

use std::time::Duration;

use article_webhook_inbox::{
    IntentState, JobFilter, JobState, SqliteStore,
    store::{AskOutcome, Intended, Ledger, Recorded, Store},
};

use super::{
    CLAIM, Place, arrival,
    damage::findings,
    damaged_pages::{LEAF_OF_AN_INDEX, overwrite},
    ledger::{ASKS, BUCKET, expect, job},
};

const BUILT: &str = "SQLite found damage, and all indexes were built again";

/// A closed database with a job in each kind of index, and intents. Jobs and intents are numbered together: job_1 is 2.
async fn closed() -> Place {
    let place = Place::new();
    let store = place.open();
    store.ordered("post-17", job("job_1"), store.now(), 1).await.unwrap();
    expect(&store, &["job_2", "job_3"]).await;
    store.record(arrival("job_2", "{2}")).await.unwrap();
    store.intend("post-18", Duration::ZERO, BUCKET).await.unwrap();
    store.close().await.unwrap();
    place
}

/// The jobs that are asked for now.
async fn asked(store: &SqliteStore) -> Vec<String> {
    let asks = store.claim_asks(ASKS).await.unwrap().asks.into_iter();
    asks.map(|ask| ask.job.job_id.to_string()).collect()
}

#[tokio::test]
async fn an_index_of_the_ledger_that_cannot_be_read_is_built_again() {
    for index in [
        "article_inbox_jobs_key",
        "article_inbox_jobs_by_state",
        "article_inbox_jobs_of_intent",
        "article_inbox_jobs_by_lane",
        "article_inbox_jobs_open",
        "article_inbox_jobs_collected",
        "article_inbox_intents_key",
        "article_inbox_intents_by_state",
        "article_inbox_intents_of_job",
        "article_inbox_intents_by_time",
    ] {
        let place = closed().await;
        place.change(index, &[], LEAF_OF_AN_INDEX ^ 1);
        let store = place.open();
        let told = findings(&store).await;
        assert!(!told.is_empty(), "{index}");
        assert_eq!(asked(&store).await, ["job_1", "job_3"], "{index}");
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Duplicate);
        assert!(matches!(
            store.intend("post-17", Duration::ZERO, BUCKET).await,
            Ok(Intended::Known(_))
        ));
        assert_eq!(store.ledger_counts().await.unwrap().unknown_intents, 1);
        assert_eq!(store.check().await.unwrap(), [], "{index}");
    }
}

#[tokio::test]
async fn a_call_for_one_job_never_changes_another() {
    let key = ("article_inbox_jobs_key", "job_id, id");
    let wrong = "UPDATE changed SET id = 3 WHERE job_id = 'job_3'";

    let place = closed().await;
    let store = place.open();
    place.damage_index(key, wrong);
    assert!(store.record(arrival("job_3", "{3}")).await.unwrap().is_stored());
    assert_eq!(findings(&store).await, [BUILT]);
    assert_eq!(store.job(job("job_3")).await.unwrap().unwrap().state, JobState::Arrived);
    assert_eq!(store.check().await.unwrap(), []);

    let place = closed().await;
    let store = place.open();
    place.damage_index(key, wrong);
    assert_eq!(store.job(job("job_3")).await.unwrap().unwrap().job_id, job("job_3"));

    let place = closed().await;
    let store = place.open();
    place.damage_index(key, wrong);
    store.forget(job("job_3")).await.unwrap();
    let left = store.jobs(JobFilter::default()).await.unwrap().items;
    assert_eq!(left.iter().map(|job| job.job_id.as_str()).collect::<Vec<_>>(), ["job_1", "job_2"]);
}

#[tokio::test]
async fn an_index_that_is_wrong_about_what_is_due_asks_for_nothing_else() {
    let place = closed().await;
    let store = place.open();
    let by_lane = ("article_inbox_jobs_by_lane", "lane, at, id");
    place.damage_index(by_lane, "UPDATE changed SET id = 3 WHERE id = 2");
    assert_eq!(asked(&store).await, ["job_1", "job_3"], "job_2 has arrived");
    assert_eq!(findings(&store).await, [BUILT]);

    // Indexes are not built again so soon: the others are asked for all the same.
    place.clock.advance(Duration::from_secs(3600));
    place.damage_index(by_lane, "UPDATE changed SET id = 3 WHERE id = 2");
    assert_eq!(asked(&store).await, ["job_3"]);
}

/// The chain of pages that hold a long cause leads nowhere. It costs what the ledger knows of this job.
#[tokio::test]
async fn a_job_that_cannot_be_read_blocks_no_other_and_its_article_is_stored() {
    let place = Place::new();
    let store = place.open();
    expect(&store, &["job_1", "job_2", "job_3"]).await;
    let asks = store.claim_asks(ASKS).await.unwrap().asks;
    for (ask, length) in asks.iter().zip([100_000, 3, 3]) {
        let again = AskOutcome::Again { after: Duration::ZERO, cause: "c".repeat(length) };
        store.settle_ask(ask.lease, again, 1).await.unwrap();
    }
    store.close().await.unwrap();
    let bytes = std::fs::read(&place.path).unwrap();
    let number = bytes.chunks(8192).position(|page| page[4..] == [b'c'; 8188]).unwrap();
    let store = place.open();
    overwrite(&place.path, number * 8192, &[0xff; 4]);

    assert_eq!(store.jobs(JobFilter::default()).await.unwrap().items.len(), 2);
    assert_eq!(asked(&store).await, ["job_2", "job_3"]);
    let told = "job 1 of the ledger cannot be read, a page is damaged: restore a backup";
    assert_eq!(findings(&store).await, [told]);
    assert_eq!(store.jobs(JobFilter::default()).await.unwrap().items.len(), 2);
    assert_eq!(store.ledger_counts().await.unwrap().open(), 3);
    assert_eq!(store.record(arrival("job_1", "{1}")).await.unwrap(), Recorded::Stored);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 1);
    assert_eq!(store.intents(Some(IntentState::Unknown), 0, 9).await.unwrap().items, []);
}

/// Without this, no article would be stored until the next start, which builds the index again.
#[tokio::test]
async fn a_delivery_is_stored_although_no_job_can_be_found() {
    let place = closed().await;
    let store = place.open();
    let sql = place.sql();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'article_inbox_jobs_key'";
    let root: u32 = sql.query_row(root, [], |row| row.get(0)).unwrap();
    overwrite(&place.path, (root as usize - 1) * 8192, &[LEAF_OF_AN_INDEX ^ 1]);
    // What was read before is read again after a commit of another program.
    sql.execute("UPDATE article_inbox_meta SET value = value + 1 WHERE name = 'probes'", [])
        .unwrap();
    let mut stored = Vec::new();
    for _ in 0..2 {
        stored.extend(store.record(arrival("job_3", "{3}")).await);
    }
    assert!(stored.contains(&Recorded::Stored), "{stored:?}");
    let told = findings(&store).await;
    assert!(told.iter().any(|told| told.starts_with("the jobs of the ledger cannot be found")));
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 2);
    store.close().await.unwrap();

    let store = place.open();
    assert_eq!(store.check().await.unwrap(), []);
    // Its job does not know of the article, and asks for it.
    assert_eq!(asked(&store).await, ["job_1", "job_3"]);
}
