//! Damage of the key of an entry: its job is not taken for arrived by an entry that cannot be found any more.

use article_webhook_inbox::{
    JobState, State,
    store::{Ledger, Recorded, Store},
};

use super::{
    Place, arrival, claimed,
    damage::checked,
    key,
    ledger::{expect, job},
};

const ARTICLE: &str = r#"{"job_id": "job_4"}"#;

/// A closed database with `job_4`, whose article was delivered with this body, damaged afterwards.
async fn damaged(body: &'static str, damage: &str) -> Place {
    let place = Place::new();
    let store = place.open();
    expect(&store, &["job_4"]).await;
    store.record(arrival("job_4", body)).await.unwrap();
    store.close().await.unwrap();
    place.damage(&format!("UPDATE article_inbox_entries SET {damage}"));
    place
}

/// A bit is restored from the checksum of the row. Of a whole byte, the body tells the job.
#[tokio::test]
async fn an_entry_gets_its_damaged_key_back() {
    for (body, damage) in [
        ("{4}", "job_id = 'job_5'"),
        ("{4}", "job_id = 'job^4'"),
        ("{4}", "job_id = CAST(x'6a6f625fb4' AS TEXT)"),
        ("{4}", "event = 'article.compldte'"),
        (ARTICLE, "job_id = 'job_Z'"),
        (ARTICLE, "job_id = CAST(x'6a6f62a034' AS TEXT)"),
        (ARTICLE, "job_id = ''"),
    ] {
        let place = damaged(body, damage).await;
        let store = place.open();
        let entry = store.show(key("job_4")).await.unwrap();
        assert_eq!(entry.map(|(entry, _)| entry.state), Some(State::Corrupt), "{damage}");
        assert_eq!(store.job(job("job_4")).await.unwrap().unwrap().state, JobState::Expected);
        let recorded = store.record(arrival("job_4", body)).await.unwrap();
        assert_ne!(recorded, Recorded::Duplicate, "{damage}");
        assert_eq!(claimed(&store).await.key, key("job_4"), "{damage}");
        assert_eq!(store.job(job("job_4")).await.unwrap().unwrap().state, JobState::Arrived);
        assert_eq!(checked(&store).await, [""; 0], "{damage}");
    }
}

/// The entry is isolated under another name. Its job has no article then, and is asked for.
#[tokio::test]
async fn a_job_whose_entry_has_another_key_is_expected() {
    for (body, damage) in
        [(ARTICLE, "event = 'an event that is none'"), ("{4}", "event = CAST(x'ff' AS TEXT)")]
    {
        let place = damaged(body, damage).await;
        let store = place.open();
        assert_eq!(store.job(job("job_4")).await.unwrap().unwrap().state, JobState::Expected);
        let recorded = store.record(arrival("job_4", body)).await.unwrap();
        assert!(matches!(recorded, Recorded::Stored | Recorded::Arrived { .. }), "{recorded:?}");
    }
}
