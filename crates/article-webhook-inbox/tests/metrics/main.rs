//! The metrics count what happens, and the documented table lists all of them.

#![allow(clippy::unwrap_used, clippy::expect_used)] // all of this is a test, and an unwrap the assertion

#[allow(dead_code)] // `secrecy` uses all of it
#[path = "../../../../tests/secrecy/canary.rs"]
mod canary;
mod recorder;
#[allow(dead_code)] // `secrecy` uses all of it
#[path = "../secrecy/scene.rs"]
mod scene;
mod script;

use std::collections::{BTreeMap, BTreeSet};

use article_webhook_inbox::metric;
use metrics::Unit;

use recorder::{Recorder, Series};

/// Runs a script with a recorder for this thread. Everything except handlers runs on this thread.
fn counted(script: impl AsyncFnOnce(&Recorder)) -> Recorder {
    let recorder = Recorder::default();
    metrics::with_local_recorder(&recorder, || block_on(script(&recorder)));
    recorder
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[track_caller]
fn assert_counts<const N: usize>(recorder: &Recorder, name: &str, counts: [(&str, f64); N]) {
    let found = counts.map(|(label, _)| (label, recorder.count(name, label)));
    assert_eq!(found, counts, "{name}");
    let all: f64 = counts.iter().map(|(_, count)| count).sum();
    assert_eq!(recorder.count(name, ""), all, "{name} has another series");
}

#[test]
fn deliveries_count_by_what_became_of_them_and_workers_count_while_they_run() {
    let recorder = counted(async |_| script::deliveries().await);
    assert_counts(
        &recorder,
        metric::DELIVERIES,
        [
            ("stored", 1.0),
            ("duplicate", 1.0),
            ("conflict_kept", 3.0),
            ("body_limit_reached", 1.0),
            ("conflict_not_kept", 1.0),
            ("unavailable", 1.0),
        ],
    );
    assert_eq!(recorder.values(metric::RECORD_DURATION, "").len(), 8);
    assert_counts(&recorder, metric::REFUSED, [("malformed_json", 1.0)]);
    assert_counts(&recorder, metric::STORE_FAILURES, [("record", 1.0), ("claim", 1.0)]);
    assert_eq!(recorder.values(metric::WORKERS, ""), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(recorder.count(metric::WORKER_FAILURES, ""), 1.0, "the inbox was closed");
}

#[test]
fn attempts_count_by_their_outcome() {
    let recorder = counted(async |_| script::attempts().await);
    assert_eq!(recorder.count(metric::CLAIMED, ""), 11.0);
    assert_counts(
        &recorder,
        metric::ATTEMPTS,
        [
            ("done", 2.0),
            ("retry", 2.0),
            ("dead", 2.0),
            ("unhandled", 1.0),
            ("corrupt", 1.0),
            ("snoozed", 1.0),
            ("released", 1.0),
        ],
    );
    assert_eq!(recorder.count(metric::LOST_LEASES, ""), 1.0);
    assert_eq!(recorder.count(metric::DISCARDED, ""), 1.0);
    assert_eq!(recorder.count(metric::EXPIRED_LEASES, ""), 1.0);
    assert_eq!(recorder.count(metric::DEAD, ""), 3.0, "two by an attempt, one at a claim");
    let ended = |ending| recorder.values(metric::HANDLER_DURATION, ending).len();
    let endings = ["succeeded", "failed", "snoozed", "gave_up", "panicked", "timed_out"];
    assert_eq!(endings.map(ended), [3, 1, 1, 1, 2, 0]);
    assert_eq!(recorder.values(metric::STUCK_HANDLERS, "").last(), Some(&0.0));
    assert_eq!(recorder.count(metric::THREAD_FAILURES, ""), 0.0);
}

#[test]
fn a_job_that_an_attempt_ends_as_unreadable_is_counted_once() {
    let recorder = counted(async |_| script::unreadable().await);
    assert_eq!(recorder.count(metric::UNREADABLE, ""), 1.0);
    assert_counts(&recorder, metric::ATTEMPTS, [("unhandled", 2.0)]);
}

#[test]
fn what_alarms_watch_begins_with_zero() {
    let recorder = counted(async |_| {
        article_webhook_inbox::Inbox::memory().health().await;
    });
    let series = recorder.series();
    for (name, label) in [
        (metric::DELIVERIES, "unavailable"),
        (metric::QUARANTINED, "kept"),
        (metric::ATTEMPTS, "corrupt"),
        (metric::STORE_FAILURES, "record"),
        (metric::DAMAGE, "entry"),
    ] {
        let is_it = |it: &&Series| it.name == name && it.labels.iter().any(|(_, it)| it == label);
        assert!(series.iter().any(|it| is_it(&it)), "{name}");
        assert_eq!(recorder.count(name, ""), 0.0, "{name}");
    }
    assert!(series.iter().any(|it| it.name == metric::UNREADABLE));
}

/// One test, because a process has one recorder for all its threads.
#[test]
fn the_table_lists_what_is_emitted() {
    let recorder = Recorder::default();
    let folder = tempfile::tempdir().unwrap();
    // The store's thread starts before the recorder is installed, and still uses it.
    block_on(async {
        let opened =
            article_webhook_inbox::Inbox::open(folder.path().join("earlier.db")).await.unwrap();
        assert!(metrics::set_global_recorder(recorder.clone()).is_ok());
        opened.ready().await.unwrap();
        assert_eq!(recorder.values(metric::COMMIT_GROUP_SIZE, ""), [1.0]);
        opened.close().await.unwrap();
        script::sqlite(folder.path()).await;
    });
    let commits = recorder.values(metric::COMMIT_DURATION, "").len();
    assert_eq!(recorder.values(metric::COMMIT_GROUP_SIZE, "").len(), commits);
    assert_eq!(recorder.count(metric::COMMIT_GROUP_SIZE, ""), if cfg!(unix) { 5.0 } else { 4.0 });
    #[cfg(unix)]
    assert_counts(&recorder, metric::STORE_FAILURES, [("begin", 1.0), ("commit", 1.0)]);

    metric::describe();
    metrics::with_local_recorder(&recorder, || {
        block_on(async {
            script::deliveries().await;
            script::orders().await;
            script::attempts().await;
            script::unreadable().await;
            script::time_limit().await;
            script::retention().await;
            script::health().await;
        });
    });

    let (table, series) = (table(), recorder.series());
    let names: BTreeSet<_> = series.iter().map(|series| &series.name).collect();
    assert_eq!(names, table.keys().collect(), "emitted, and in the table");
    assert_eq!(table.len(), 25);
    for Series { name, kind, labels } in &series {
        let row = &table[name];
        assert_eq!(*kind, row.kind, "{name}");
        assert_eq!(
            labels.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
            row.labels,
            "{name}"
        );
        for (key, value) in labels.iter().filter(|(key, _)| key != "code") {
            assert!(
                row.when.contains(&format!("`{value}`")),
                "{name}: {key}={value} is in no table"
            );
        }
    }
    let described = recorder.described();
    let units = table.iter().map(|(name, row)| (name.clone(), (row.kind, row.unit)));
    assert_eq!(described, units.collect());
}

struct Row {
    kind: &'static str,
    unit: Unit,
    labels: Vec<&'static str>,
    when: &'static str,
}

/// The documentation of the module, read from the source.
fn table() -> BTreeMap<String, Row> {
    let source = include_str!("../../src/telemetry.rs");
    let rows = source.lines().filter_map(|line| line.trim_start().strip_prefix("//! | `"));
    let row = |row: &'static str| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [name, kind, unit, labels, when, ""] = cells[..] else {
            panic!("a row of five cells: {row}");
        };
        let unit = match unit {
            "count" => Unit::Count,
            "seconds" => Unit::Seconds,
            "bytes" => Unit::Bytes,
            other => panic!("{name}: {other} is no unit"),
        };
        let labels = labels
            .split(',')
            .map(|label| label.trim_matches([' ', '`']))
            .filter(|label| !label.is_empty());
        (name.trim_end_matches('`').to_owned(), Row { kind, unit, labels: labels.collect(), when })
    };
    rows.map(row).collect()
}
