//! Damage of a row costs that row, and is reported. `tests/damage` flips bits in every page.

use article_webhook_inbox::{
    Body, Entry, Filter, Finding, SqliteStore, State,
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
    for damage in ["job_id = CAST(x'6a6f62ff32' AS TEXT)", "job_id = 'job 2'", "job_id = ''"] {
        let fixture = closed().await;
        fixture.damage(&format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2"));
        let store = fixture.open();
        assert!(checked(&store).await[0].contains("its job id cannot be read"), "{damage}");
        for job in ["job_1", "job_3", "job_4"] {
            let claims = store.claim(Claim { limit: 1, ..CLAIM }).await.unwrap();
            assert_eq!(claims.claimed[0].key, key(job), "{damage}");
        }
        let claims = store.claim(CLAIM).await.unwrap();
        assert_eq!(claims.claimed, [], "{damage}");
        let ends = store.now() + CLAIM.lease;
        assert_eq!(claims.next_due, Some(ends), "{damage}: it is no reason to claim again");
        assert!(findings(&store).await[0].starts_with("row 2 is skipped, "), "{damage}");
        let page = Filter { limit: 1, after: 1, ..Filter::default() };
        let page = store.list(page).await.unwrap();
        assert_eq!((page.items, page.next), (Vec::new(), Some(2)), "{damage}: it ends no list");
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Stored);
        assert_eq!(claimed(&store).await.key, key("job_2"), "{damage}");
    }
}

#[tokio::test]
async fn a_sound_body_is_handed_out_beside_a_damaged_one() {
    for damage in BODIES {
        let fixture = closed().await;
        let store = fixture.open();
        store.record(arrival("job_2", ARTICLE)).await.unwrap();
        fixture.damage(&format!("UPDATE article_inbox_bodies SET {damage} WHERE slot = 32"));
        let claims = store.claim(CLAIM).await.unwrap().claimed;
        let intact: Vec<_> = claims[1].bodies.iter().map(Body::is_intact).collect();
        assert_eq!(intact, [false, true], "{damage}");
    }
}

/// The worker compares the bytes with the digest.
#[tokio::test]
async fn flipped_bytes_of_a_body_are_handed_out_and_a_check_finds_them() {
    let fixture = closed().await;
    let store = fixture.open();
    fixture.damage("UPDATE article_inbox_bodies SET body = CAST('{7}' AS BLOB) WHERE slot = 32");
    let body = "entry 2, job_2 (article.complete): a body is not what was received";
    let advice = "once a worker has found the entry corrupt, deliver or collect the job again";
    assert_eq!(checked(&store).await, [format!("{body}: {advice}")]);
    let claims = store.claim(CLAIM).await.unwrap().claimed;
    assert_eq!((claims.len(), claims[1].bodies[0].is_intact()), (4, false));
    let corrupt = Outcome::Corrupt { seen: 1, cause: "digest".to_owned() };
    store.settle(claims[1].lease, corrupt).await.unwrap();
    assert_eq!(store.record(arrival("job_2", ARTICLE)).await.unwrap(), Recorded::Stored);
    let sound = "another body of the entry is sound, and is handed out";
    assert_eq!(checked(&store).await, [format!("{body}: {sound}")]);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 1);
}

#[tokio::test]
async fn a_damaged_time_of_the_store_fails_no_call() {
    for damage in ["CAST(x'ff' AS TEXT)", "9223372036854775807", "-1"] {
        let fixture = closed().await;
        fixture.damage(&format!(
            "UPDATE article_inbox_meta SET value = {damage} WHERE name = 'clock'"
        ));
        let store = fixture.open();
        store.probe().await.unwrap();
        store.probe().await.unwrap();
    }
}

#[tokio::test]
async fn a_damaged_last_removed_id_gives_no_row_the_id_of_another() {
    for damage in ["value = CAST(x'ff' AS TEXT)", "value = -1", "value = 1", "name = 'idw'"] {
        let fixture = closed().await;
        let store = fixture.open();
        store.erase(vec!["job_2".parse().unwrap()]).await.unwrap();
        store.close().await.unwrap();
        fixture.damage(&format!(
            "UPDATE article_inbox_meta SET {damage} WHERE name = 'last_removed_id'"
        ));
        let store = fixture.open();
        store.record(arrival("job_5", "{5}")).await.unwrap();
        let ids: Vec<_> = entries(&store).await.iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [1, 3, 4, 5], "{damage}");
    }
}
