//! Whatever a store can hold, damage included, is exported so that it can be imported.

use std::io::Cursor;
use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Body, Digest, MAX_BODIES_PER_ENTRY, Source, State,
    store::{Arrival, Row, Store, from_millis},
};
use article_webhook_inbox_contract::{arrival, lines::entry_line};
use bytes::Bytes;

use super::scene::{Scene, exported, key};

/// What becomes of a body in a store.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Delivered,
    OfTheApi,
    /// Retention removed its bytes.
    Removed,
    /// Its bytes are not what was received.
    Flipped,
    /// Its row is damaged: a digest that no bytes have, and a time and an intent that are none.
    Damaged,
    NotUtf8,
}

const KINDS: [Kind; 6] =
    [Kind::Delivered, Kind::OfTheApi, Kind::Removed, Kind::Flipped, Kind::Damaged, Kind::NotUtf8];

fn body(kind: Kind, number: usize) -> Body {
    let sent = arrival("job_1", &format!("[{number}]"));
    let sent = Arrival { target: "blog".into(), intent: Some("post-17".into()), ..sent };
    let mut body = sent.into_body(SystemTime::UNIX_EPOCH);
    match kind {
        Kind::Delivered => {}
        Kind::OfTheApi => (body.source, body.intent) = (Source::Api, None),
        Kind::Removed => body.bytes = None,
        Kind::Flipped => body.bytes = Some("flipped".into()),
        Kind::Damaged => {
            body.received_at = from_millis(i64::MAX);
            body.intent = Some("post-\u{fffd}".into());
            body.digest = Digest::from([0; 32]);
        }
        Kind::NotUtf8 => {
            let not_utf8 = Bytes::from(vec![0xff, u8::try_from(number).unwrap()]);
            (body.digest, body.bytes) = (Digest::of(&not_utf8), Some(not_utf8));
        }
    }
    body
}

/// Each number of bodies, of each two kinds in turn.
fn everything() -> impl Iterator<Item = Vec<Kind>> {
    let pairs = KINDS.into_iter().flat_map(|kind| KINDS.map(|other| [kind, other]));
    let some = pairs.flat_map(|pair| {
        let kinds = move |count| pair.into_iter().cycle().take(count).collect();
        (1..=MAX_BODIES_PER_ENTRY + 1).map(kinds)
    });
    std::iter::once(Vec::new()).chain(some)
}

#[tokio::test]
async fn whatever_a_store_can_hold_is_exported_and_imported() {
    let from = Scene::new();
    let (mut number, mut keys) = (0, Vec::new());
    for kinds in everything() {
        for &state in State::ALL {
            number += 1;
            let at = from.clock.now() + Duration::from_secs(number);
            let key = key(&format!("job_{number}"));
            let key = if state == State::Quarantined { key.quarantine() } else { key };
            keys.push(key.clone());
            let row = Row { state, attempts: 1, ..Row::new(at) };
            let first = ("blog".into(), Source::Webhook, None);
            let entry = row.into_entry(0, key, from_millis(i64::MAX), first, None);
            let bodies = kinds.iter().enumerate().map(|(at, kind)| body(*kind, at)).collect();
            assert!(from.store.import(vec![entry_line(entry, bodies)]).await.unwrap().added == 1);
        }
    }
    let (to, again, lines) = (Scene::new(), Scene::new(), exported(&from.inbox).await);
    let imported = to.inbox.import(Cursor::new(&lines)).await.unwrap();
    assert_eq!((imported.added, imported.present), (number, 0));
    for key in keys {
        let (_, there) = from.inbox.show(key.clone()).await.unwrap().unwrap();
        let (_, here) = to.inbox.show(key.clone()).await.unwrap().unwrap();
        assert_eq!(here.len(), there.len(), "{key}");
        for (here, there) in here.iter().zip(&there) {
            let intact = there.bytes.clone().filter(|_| there.is_intact());
            assert_eq!((&here.bytes, here.digest), (&intact, there.digest), "{key}");
        }
    }
    let lines = exported(&to.inbox).await;
    assert_eq!(again.inbox.import(Cursor::new(&lines)).await.unwrap().added, number);
    assert_eq!(exported(&again.inbox).await, lines);
}
