//! Jobs that are named on the command line.

use article_webhook_inbox::{
    Digest, EntryKey, Source, SqliteStore,
    store::{Arrival, Store},
};

use crate::{
    sample,
    tool::{fails, run, text},
};

/// A job is erased with all its entries, so filters that leave one of them out leave the job.
#[tokio::test]
async fn nothing_is_erased_that_a_filter_leaves_out() {
    let (_folder, file) = sample::inbox().await;
    let store = SqliteStore::open(&file).unwrap();
    // The job that is done has a second entry, which waits.
    let second = Arrival {
        key: EntryKey { job_id: "job_done".parse().unwrap(), event: "article.note".into() },
        target: "default".into(),
        digest: Digest::of(b"{}"),
        bytes: "{}".into(),
        source: Source::Webhook,
        intent: None,
    };
    store.record(second).await.unwrap();
    store.close().await.unwrap();
    let run = |arguments: &[&str]| run(&[&["inbox", "erase", text(&file)], arguments].concat());
    let left = "not 1 entry: the filters leave out another entry of its job, which would be erased with it\n";
    for arguments in [&["--state", "done"][..], &["job_done", "--event", "article.note"]] {
        for last in ["--dry-run", "--yes"] {
            let says = "error: 1 entry: the filters leave out another entry of its job";
            fails(&[&["inbox", "erase", text(&file)], arguments, &[last]].concat(), 3, says);
        }
    }
    let (exit, out, note) = run(&["--event", "article.complete", "--json", "--dry-run"]);
    assert_eq!((exit, out.lines().count()), (Some(0), 4), "{note}");
    assert!(!out.contains("job_done") && note.starts_with(left), "{note}");
    let (exit, out, note) = run(&["--event", "article.complete", "--yes"]);
    assert_eq!((exit, &*out, &*note), (Some(0), "erased 4 entries\n", left));
    let (exit, out, note) = run(&["job_done", "--dry-run"]);
    assert_eq!((exit, out.matches("job_done").count()), (Some(0), 2), "{note}");
    let (exit, out, note) = run(&["job_done"]);
    assert_eq!((exit, &*out), (Some(0), "erased 2 entries\n"), "{note}");
}
