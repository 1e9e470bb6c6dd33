//! No token, no body and, if a log leaves out the field `cause`, no error of a handler or a sink is shown: in no log event of any crate at any
//! level, in no metric, and not by `Debug` or `Display` of a public type.
//!
//! The label of a target and the intent of a capability are names that the application chose. No log event of this crate
//! and no metric contains them, but `Debug` of a body shows them, as `Debug` of a delivery does. The cause of an entry is
//! the error of the application's handler. `Debug` of an entry shows it.

#![allow(clippy::unwrap_used, clippy::expect_used)] // all of this is a test, and an unwrap the assertion

#[allow(dead_code)] // not every canary has its place here
#[path = "../../../../tests/secrecy/canary.rs"]
mod canary;
mod observe;
#[allow(dead_code)] // no value is secret
#[path = "../metrics/recorder.rs"]
mod recorder;
mod scene;
mod worker;

use std::time::SystemTime;

use article_webhook_inbox::{Clock, MemoryStore, SqliteSettings, SqliteStore};

use observe::{log, metrics, observe};
use scene::Scene;

/// One event of each kind, so that none is forgotten. Those of failures are logged at most once a second.
const LINES: [&str; 15] = [
    "delivery stored",
    "delivery was stored before",
    "another body came for an entry that is stored: it is kept with the others",
    "no room for another body",
    "leases ended without a result",
    "its last attempt did not end",
    "handler ended",
    "entry is done",
    "attempt failed, and another will follow",
    "entry is given back",
    "entry is dead: its cause",
    "entry is unhandled",
    "entry is corrupt",
    "lease lost",
    "the store failed",
];

#[test]
fn an_inbox_in_memory_shows_no_secret() {
    observe();
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    assert_secret(&Scene::new("memory"), MemoryStore::new(clock.clone()), &clock);
}

#[test]
fn an_inbox_in_a_file_shows_no_secret() {
    observe();
    let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
    let folder = tempfile::tempdir().unwrap();
    let settings = SqliteSettings::default().clock(clock.clone());
    let store = SqliteStore::open_with(folder.path().join("inbox.db"), settings).unwrap();
    assert_secret(&Scene::new("file"), store, &clock);
    assert!(log().lines().any(|line| is_of_the_inbox(line) && line.contains("committed")));
}

fn assert_secret(scene: &Scene, store: impl article_webhook_inbox::store::Store, clock: &Clock) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let shown = runtime.block_on(scene.play(store, clock));
    assert!(shown.iter().all(|text| text.len() > 10), "{shown:#?}");
    assert_eq!(scene.secrets.shown_in(&shown.join("\n")), [""; 0]);

    let log = log();
    assert!(log.contains(" article_webhook: the handler failed and asks for a retry"));
    let lines: Vec<_> = log.lines().filter(|line| is_of_the_inbox(line)).collect();
    for line in LINES {
        assert!(lines.iter().any(|logged| logged.contains(line)), "nothing of {line:?} was logged");
    }
    let of_this_scene = lines.iter().filter(|line| line.contains(&scene.job("succeeds"))).count();
    assert!(of_this_scene >= 3, "{of_this_scene} lines about a job");
    assert_eq!(scene.secrets.shown_in(&log), [""; 0]);
    assert_eq!(scene.names.shown_in(&lines.join("\n")), [""; 0]);

    let metrics = metrics();
    assert!(metrics.lines().count() > 30, "{metrics}");
    assert_eq!(scene.secrets.shown_in(&metrics), [""; 0]);
    assert_eq!(scene.names.shown_in(&metrics), [""; 0]);
    assert!(!metrics.contains(&scene.job("")), "a job id is no label");
}

fn is_of_the_inbox(line: &str) -> bool {
    line.contains(" article_webhook_inbox: ")
}
