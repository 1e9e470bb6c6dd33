//! Damage of a row costs that row, and is reported. `tests/damage` flips bits in every page.

use article_webhook_inbox::{
    Entry, Filter, Finding, SqliteStore, State,
    store::{Claim, Expect, Outcome, Quarantine, Recorded, Settled, Store},
};

use super::{CLAIM, Fixture, arrival, claimed, key};

const ARTICLE: &str = r#"{"job_id": "job_1"}"#;

/// A closed database with the entries `job_1` to `job_4`.
pub(super) async fn closed() -> Fixture {
    let fixture = Fixture::new();
    let store = fixture.open();
    for number in 1..=4 {
        store.record(arrival(&format!("job_{number}"), &format!("{{{number}}}"))).await.unwrap();
    }
    store.close().await.unwrap();
    fixture
}

impl Fixture {
    /// Changes rows as damage does: checksums are not obeyed.
    pub(super) fn damage(&self, statement: &str) {
        self.sql().execute_batch(statement).unwrap();
    }
}

pub(super) async fn entries(store: &SqliteStore) -> Vec<Entry> {
    store.list(Filter::default()).await.unwrap().items
}

/// What a check finds: damage alone.
pub(super) async fn checked(store: &SqliteStore) -> Vec<String> {
    let found = store.check().await.unwrap();
    assert!(found.iter().all(Finding::is_damage), "{found:?}");
    found.iter().map(ToString::to_string).collect()
}

pub(super) async fn findings(store: &SqliteStore) -> Vec<String> {
    store.health().await.unwrap().findings
}

fn says(cause: &str) -> String {
    format!("entry 2 of job_2: {cause}; deliver or collect the job again")
}

/// Each damage of the row of `job_2`, and the cause that its entry shows.
const ROWS: [(&str, &str); 9] = [
    ("document = '{'", "its checksum does not match"),
    ("document = '{\"conflicts\":7}'", "its checksum does not match"),
    ("document = CAST(x'ff' AS TEXT)", "its checksum does not match"),
    ("checksum = checksum + 1", "its checksum does not match"),
    ("received_at = 7", "its checksum does not match"),
    ("attempts = -1", "its attempts is damaged"),
    ("state = 'waitinf'", "its state is damaged"),
    ("event = 'article.complfte'", "its checksum does not match"),
    ("event = CAST(x'ff' AS TEXT)", "its checksum does not match"),
];

/// Each damage of the row of its body.
const BODIES: [&str; 5] = [
    "digest = x'00'",
    "document = '{'",
    "document = replace(document, 'default', 'dffault')",
    "received_at = 7",
    "checksum = checksum + 1",
];

/// What costs `job_2` alone: the statement, the cause that its entry shows, and what a check finds.
fn damages() -> Vec<(String, &'static str, String)> {
    let rows = ROWS.map(|(damage, cause)| {
        let damage = format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2");
        (damage, cause, says(cause))
    });
    let bodies = BODIES.map(|damage| {
        let damage = format!("UPDATE article_inbox_bodies SET {damage} WHERE slot = 32");
        let found = "body 1 of entry 2: its checksum does not match".to_owned();
        (damage, "body 1: its checksum does not match", found)
    });
    let missing = [
        "UPDATE article_inbox_bodies SET body = NULL WHERE slot = 32",
        "DELETE FROM article_inbox_bodies WHERE slot = 32",
    ];
    let cause = "its body is missing";
    let missing = missing.map(|damage| (damage.to_owned(), cause, says(cause)));
    rows.into_iter().chain(bodies).chain(missing).collect()
}

#[tokio::test]
async fn a_damaged_row_is_corrupt_when_it_is_loaded_and_blocks_no_other() {
    for (damage, cause, found) in damages() {
        let fixture = closed().await;
        fixture.damage(&damage);
        let store = fixture.open();
        if cause != "its body is missing" {
            assert!(checked(&store).await.contains(&found), "{damage}");
        }
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3, "{damage}");
        let entry = entries(&store).await.remove(1);
        let shown = (entry.state, entry.attempts, entry.cause.as_deref());
        let attempts = if damage.contains("attempts") { entry.attempts } else { 0 };
        assert_eq!(shown, (State::Corrupt, attempts, Some(cause)), "{damage}");
        assert!(findings(&store).await.contains(&found), "{damage}");
        assert!(!checked(&store).await.is_empty(), "{damage}: it is still reported");
    }
}

#[tokio::test]
async fn the_next_delivery_mends_a_damaged_entry() {
    // The entry of another event is another one.
    for (damage, ..) in damages().into_iter().filter(|(damage, ..)| !damage.contains("event")) {
        // The same body or another one, before a claim or after it.
        for (body, is_claimed) in [("{2}", false), (ARTICLE, false), ("{2}", true)] {
            let fixture = closed().await;
            fixture.damage(&damage);
            let store = fixture.open();
            if is_claimed {
                store.claim(CLAIM).await.unwrap();
            }
            let is_body = damage.contains("bodies");
            let recorded = store.record(arrival("job_2", body)).await.unwrap();
            assert!(recorded == Recorded::Stored || is_body, "{damage}: {recorded:?}");
            let claims = store.claim(CLAIM).await.unwrap().claimed;
            let repaired = claims.iter().find(|claimed| claimed.key == key("job_2")).unwrap();
            let intact = repaired.bodies.iter().filter(|body| body.is_intact()).count();
            assert!(intact == repaired.bodies.len() || is_body && intact > 0, "{damage}");
            assert_eq!(repaired.attempt, 1, "{damage}: it has cost no attempt");
        }
    }
}

#[tokio::test]
async fn the_lease_of_an_entry_whose_row_is_damaged_is_lost_and_an_operator_may_requeue_it() {
    let fixture = closed().await;
    let store = fixture.open();
    let leased = store.claim(Claim { limit: 1, ..CLAIM }).await.unwrap().claimed.remove(0);
    fixture.damage("UPDATE article_inbox_entries SET document = '{'");
    assert!(store.extend(&[leased.lease], CLAIM.lease).await.unwrap().is_empty());
    assert_eq!(store.settle(leased.lease, Outcome::Done).await.unwrap(), Settled::LostLease);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed, []);
    assert!(store.discard(vec![key("job_4")], "no".into()).await.unwrap()[0]);
    let states: Vec<_> = entries(&store).await.iter().map(|entry| entry.state).collect();
    assert_eq!(states, [State::Corrupt, State::Corrupt, State::Corrupt, State::Dead]);
    assert!(store.requeue(vec![(key("job_2"), None)], store.now()).await.unwrap()[0]);
    assert_eq!(claimed(&store).await.key, key("job_2"));
}

#[tokio::test]
async fn a_done_entry_whose_row_is_damaged_stays_done() {
    for (damage, cause) in ROWS
        .into_iter()
        .filter(|(damage, _)| !damage.starts_with("event") && !damage.starts_with("state"))
    {
        let fixture = closed().await;
        let store = fixture.open();
        for claimed in store.claim(CLAIM).await.unwrap().claimed {
            store.settle(claimed.lease, Outcome::Done).await.unwrap();
        }
        fixture.damage(&format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2"));
        let recorded = store.record(arrival("job_2", "{2}")).await.unwrap();
        assert_eq!(recorded, Recorded::Duplicate, "{damage}");
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed, [], "{damage}");
        assert_eq!(entries(&store).await.remove(1).state, State::Done, "{damage}");
        assert_eq!(findings(&store).await, [says(cause)], "{damage}");
    }
}

#[tokio::test]
async fn a_quarantined_entry_whose_row_is_damaged_stays_in_quarantine() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let (arrival, cause) = (arrival("job_1", "{"), "a reason".to_owned());
    let expect = Some(Expect::job(arrival.key.job_id.clone(), store.now()));
    let quarantine = Quarantine { arrival, cause, expect, statement: None, budget: 1 << 20 };
    store.quarantine(quarantine).await.unwrap();
    fixture.damage("UPDATE article_inbox_entries SET document = '{'");
    assert!(store.check().await.unwrap().iter().any(Finding::is_damage));
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed, []);
    let (entry, bodies) = store.show(key("job_1").quarantine()).await.unwrap().unwrap();
    assert_eq!(entry.state, State::Quarantined);
    assert_eq!(entry.cause.as_deref(), Some("its checksum does not match"));
    assert_eq!(bodies[0].bytes.as_deref(), Some(&b"{"[..]));
}

#[tokio::test]
async fn a_row_without_a_readable_job_id_is_passed_over() {
    for damage in ["job_id = CAST(x'6a6f62ff32' AS TEXT)", "job_id = ''"] {
        let fixture = closed().await;
        fixture.damage(&format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2"));
        let store = fixture.open();
        assert!(checked(&store).await[0].contains("its job id cannot be read"), "{damage}");
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3, "{damage}");
        assert!(findings(&store).await[0].starts_with("row 2 is skipped, "), "{damage}");
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Stored);
        assert_eq!(claimed(&store).await.key, key("job_2"), "{damage}");
    }
}
