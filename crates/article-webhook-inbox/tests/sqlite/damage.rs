//! Damage of a row costs that row, and is told. `tests/damage` flips bits in every page.

use article_webhook_inbox::{
    Entry, Filter, Finding, SqliteStore, State,
    store::{Outcome, Recorded, Settled, Store},
};

use super::{CLAIM, Place, arrival, claimed, key};

const ARTICLE: &str = r#"{"job_id": "job_1"}"#;

/// A closed database with the entries `job_1` to `job_4`.
pub(super) async fn closed() -> Place {
    let place = Place::new();
    let store = place.open();
    for number in 1..=4 {
        store.record(arrival(&format!("job_{number}"), format!("{{{number}}}"))).await.unwrap();
    }
    store.close().await.unwrap();
    place
}

impl Place {
    /// Changes rows as damage does: neither checksums nor rules of columns are obeyed.
    pub(super) fn damage(&self, statement: &str) {
        let sql = self.sql();
        sql.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
        sql.execute_batch(statement).unwrap();
    }
}

pub(super) async fn entries(store: &SqliteStore) -> Vec<Entry> {
    store.list(Filter::default()).await.unwrap().entries
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

/// Each damage of the row of `job_2`, and the cause that its entry shows.
const ROWS: [(&str, &str); 12] = [
    ("attempts = attempts + 1", "its checksum does not match"),
    ("at = at + 3600000", "its checksum does not match"),
    ("received_at = 7", "its checksum does not match"),
    ("checksum = checksum + 1", "its checksum does not match"),
    ("event = 'article.complfte'", "its checksum does not match"),
    ("attempts = -1", "its attempts is damaged"),
    ("conflicts = 1 << 40", "its conflicts is damaged"),
    ("fence = fence + (1 << 62)", "its checksum does not match"),
    ("state = 'waitinf'", "its state is damaged"),
    ("cause = CAST(x'ff' AS TEXT)", "its cause is damaged"),
    ("failures = '{'", "its failures is damaged"),
    ("event = CAST(x'ff' AS TEXT)", "its event is damaged"),
];

#[tokio::test]
async fn a_damaged_row_is_isolated_with_its_cause_and_blocks_no_other() {
    for (damage, cause) in ROWS {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2"));
        let store = place.open();
        let entry = entries(&store).await.remove(1);
        assert_eq!(
            (entry.state, entry.cause.as_deref()),
            (State::Corrupt, Some(cause)),
            "{damage}"
        );
        let told = findings(&store).await;
        assert_eq!(told.len(), 1, "{damage}: {told:?}");
        assert!(told[0].starts_with("entry 2, job_2 (") && told[0].contains(cause), "{told:?}");
        let checked = checked(&store).await;
        assert_eq!(checked.len(), 1, "{damage}: {checked:?}");
        assert!(checked[0].contains(cause), "{checked:?}");
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3, "{damage}");

        // Isolated once and for all.
        store.close().await.unwrap();
        let store = place.open();
        assert_eq!(findings(&store).await, [""; 0], "{damage}");
        assert_eq!(entries(&store).await.remove(1).state, State::Corrupt);
    }
}

#[tokio::test]
async fn the_next_delivery_mends_a_damaged_entry() {
    for (damage, _) in ROWS.into_iter().filter(|(damage, _)| !damage.starts_with("event")) {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2"));
        let store = place.open();
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Stored);
        let claims = store.claim(CLAIM).await.unwrap().claimed;
        let mended = claims.iter().find(|claimed| claimed.key == key("job_2")).unwrap();
        assert!(mended.bodies.iter().all(article_webhook_inbox::Body::is_intact), "{damage}");
        assert_eq!(store.settle(mended.lease, Outcome::Done).await.unwrap(), Settled::Settled);
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

#[tokio::test]
async fn an_operator_may_requeue_an_entry_whose_row_was_damaged() {
    let place = closed().await;
    place.damage("UPDATE article_inbox_entries SET attempts = 99, fence = fence + 8 WHERE id = 2");
    let store = place.open();
    assert!(store.requeue(key("job_2"), None).await.unwrap());
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
}

#[tokio::test]
async fn an_unreadable_job_id_is_replaced_and_its_job_is_taken_as_a_new_one() {
    for (damage, name) in [
        ("job_id = CAST(x'6a6f62ff32' AS TEXT)", "job_2_damaged_2"),
        ("job_id = 'job 2'", "job_2_damaged_2"),
        ("job_id = ''", "_damaged_2"),
    ] {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_entries SET {damage} WHERE id = 2"));
        let store = place.open();
        let entry = entries(&store).await.remove(1);
        assert_eq!(entry.key.job_id.as_str(), name, "{damage}");
        assert_eq!(entry.cause.as_deref(), Some("its job_id is damaged"));
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Stored);
        assert_eq!(store.forget(entry.key.job_id).await.unwrap(), 1);
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 4);
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_row_fails_no_call_while_the_store_is_open() {
    let place = closed().await;
    let store = place.open();
    let one = article_webhook_inbox::store::Claim { limit: 1, ..CLAIM };
    let leased = store.claim(one).await.unwrap().claimed.remove(0);
    place.damage("UPDATE article_inbox_entries SET conflicts = conflicts + 1");
    assert!(store.extend(&[leased.lease], CLAIM.lease).await.unwrap().is_empty());
    assert_eq!(store.settle(leased.lease, Outcome::Done).await.unwrap(), Settled::LostLease);
    assert_eq!(store.claim(CLAIM).await.unwrap().claimed, []);
    assert!(store.bury(key("job_4"), "no".into()).await.unwrap());
    let entries = entries(&store).await;
    let states: Vec<_> = entries.iter().map(|entry| entry.state).collect();
    assert_eq!(states, [State::Corrupt, State::Corrupt, State::Corrupt, State::Dead]);
    assert_eq!(store.record(arrival("job_1", "{1}")).await.unwrap(), Recorded::Stored);
    assert_eq!(claimed(&store).await.key, key("job_1"));
}

#[tokio::test]
async fn a_reader_shows_a_damaged_row_as_corrupt_before_it_is_isolated() {
    let place = closed().await;
    let store = place.open();
    place.damage("UPDATE article_inbox_entries SET state = 'dead' WHERE id = 3");
    let (entry, bodies) = store.show(key("job_3")).await.unwrap().unwrap();
    assert_eq!((entry.state, bodies.len()), (State::Corrupt, 1));
    assert_eq!(findings(&store).await.len(), 1);
    assert_eq!(store.counts().await.unwrap().total(), 4);
}

#[tokio::test]
async fn a_body_whose_bytes_are_whole_is_kept_when_the_rest_of_its_row_is_damaged() {
    for (damage, cause) in [
        ("source = 'fax'", "body 1: its source is damaged"),
        ("target = 'shop'", "body 1: its checksum does not match"),
        ("target = CAST(x'ff' AS TEXT)", "body 1: its target is damaged"),
        ("intent = 'another'", "body 1: its checksum does not match"),
        ("received_at = received_at + 1", "body 1: its checksum does not match"),
        ("checksum = checksum + 1", "body 1: its checksum does not match"),
    ] {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_bodies SET {damage} WHERE slot = 32"));
        let store = place.open();
        let kept = "its bytes are what was received, and its row was written anew";
        assert_eq!(findings(&store).await, [format!("entry 2, {cause}; {kept}")]);
        let claims = store.claim(CLAIM).await.unwrap().claimed;
        assert_eq!(claims.len(), 4, "{damage}");
        let body = &claims[1].bodies[0];
        assert!(body.is_intact() && body.bytes.as_deref() == Some(b"{2}"), "{damage}");
        assert_eq!(store.check().await.unwrap(), [], "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_row_of_a_body_makes_its_entry_corrupt() {
    for (damage, cause) in [
        ("digest = x'00'", "body 1: its digest is damaged"),
        ("source = 'fax', body = CAST('{3}' AS BLOB)", "body 1: its source is damaged"),
    ] {
        let place = closed().await;
        place.damage(&format!("UPDATE article_inbox_bodies SET {damage} WHERE slot = 32"));
        let store = place.open();
        let entry = entries(&store).await.remove(1);
        assert_eq!(
            (entry.state, entry.cause.as_deref()),
            (State::Corrupt, Some(cause)),
            "{damage}"
        );
        assert_eq!(findings(&store).await.len(), 1);
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3);
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Stored);
        let mended = claimed(&store).await;
        assert_eq!(mended.bodies.iter().filter(|body| body.is_intact()).count(), 1, "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_body_does_not_take_the_others_of_its_entry_along() {
    let place = closed().await;
    let store = place.open();
    store.record(arrival("job_2", ARTICLE)).await.unwrap();
    store.close().await.unwrap();
    place.damage("UPDATE article_inbox_bodies SET digest = x'00' WHERE slot = 32");
    let store = place.open();
    assert_eq!(entries(&store).await.remove(1).state, State::Waiting);
    let claims = store.claim(CLAIM).await.unwrap().claimed;
    let intact: Vec<_> =
        claims[1].bodies.iter().map(article_webhook_inbox::Body::is_intact).collect();
    assert_eq!(intact, [false, true]);
}

/// Without them the store could not commit, or add an entry.
#[tokio::test]
async fn damaged_counters_go_on() {
    for (damage, told) in [
        (
            "DELETE FROM article_inbox_meta WHERE name = 'probes'",
            "the counter of probes was damaged, and begins anew",
        ),
        (
            "UPDATE sqlite_sequence SET seq = 1 << 60",
            "a counter of row ids was damaged, and goes on after the largest id",
        ),
        (
            "UPDATE sqlite_sequence SET seq = 'many'",
            "a counter of row ids was damaged, and goes on after the largest id",
        ),
    ] {
        let place = closed().await;
        place.damage(damage);
        let store = place.open();
        assert_eq!(findings(&store).await, [told], "{damage}");
        store.probe().await.unwrap();
        assert_eq!(store.record(arrival("job_6", "{6}")).await.unwrap(), Recorded::Stored);
        assert_eq!(entries(&store).await[4].id, 5);
        assert_eq!(store.check().await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_wrong_number_of_bodies_is_counted_again() {
    let place = closed().await;
    place.damage("UPDATE article_inbox_entries SET held = 0 WHERE id = 2");
    let store = place.open();
    let told = "entry 2: the number of its bodies was wrong, and was counted again";
    assert_eq!(findings(&store).await, [told]);
    let held = "SELECT held FROM article_inbox_entries WHERE id = 2";
    assert_eq!(place.sql().query_row(held, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

/// Bytes that differ from what was received are damage like any other, also if another body of the entry is sound.
#[tokio::test]
async fn flipped_bytes_of_a_body_are_told() {
    let place = closed().await;
    let store = place.open();
    store.record(arrival("job_2", ARTICLE)).await.unwrap();
    place.damage("UPDATE article_inbox_bodies SET body = CAST('{7}' AS BLOB) WHERE slot = 32");
    let claims = store.claim(CLAIM).await.unwrap().claimed;
    let told = "entry 2, job_2 (article.complete): body 1 is not what was received; deliver or collect the job again";
    assert_eq!(findings(&store).await, [told]);

    // The only body of an entry is checked by the worker.
    let cause = "a stored body is not what was received".to_owned();
    let outcome = Outcome::Corrupt { seen: 1, cause };
    assert_eq!(store.settle(claims[2].lease, outcome).await.unwrap(), Settled::Settled);
    let told = findings(&store).await;
    assert_eq!(told.len(), 2);
    assert!(
        told[1].starts_with("entry 3, job_3 (article.complete), is corrupt: a body is"),
        "{told:?}"
    );
}

/// One bit makes a body one that was removed. Retention removes the bodies of what is done, and no others.
#[tokio::test]
async fn a_body_that_is_missing_is_damage_and_the_next_delivery_mends_it() {
    let remove = "UPDATE article_inbox_bodies SET body = NULL WHERE slot = 32";
    // Found at the start, and by a claim.
    for is_open in [false, true] {
        let place = closed().await;
        if !is_open {
            place.damage(remove);
        }
        let store = place.open();
        if is_open {
            place.damage(remove);
        }
        assert_eq!(store.claim(CLAIM).await.unwrap().claimed.len(), 3);
        let (entry, _) = store.show(key("job_2")).await.unwrap().unwrap();
        let cause = "its body is missing";
        assert_eq!((entry.state, entry.cause.as_deref()), (State::Corrupt, Some(cause)));
        let told = format!("entry 2: {cause}; deliver or collect the job again");
        assert!(findings(&store).await.contains(&told));
        assert_eq!(store.record(arrival("job_2", "{2}")).await.unwrap(), Recorded::Stored);
        let claimed = store.claim(CLAIM).await.unwrap().claimed.remove(0);
        assert_eq!(claimed.bodies[0].bytes.as_deref(), Some(b"{2}".as_slice()));
        assert_eq!(store.check().await.unwrap(), []);
    }
}
