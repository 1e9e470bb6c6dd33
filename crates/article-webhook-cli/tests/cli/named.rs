//! Jobs that are named on the command line.

use std::{path::Path, time::SystemTime};

use article_webhook_inbox::{
    Digest, EntryKey, Source, SqliteStore,
    store::{Arrival, Expect, Store},
};

use crate::{
    sample,
    tool::{run, seen, text, tool},
};

#[tokio::test]
async fn a_job_that_is_named_twice_counts_once_and_an_unknown_one_is_reported() {
    let (_folder, file) = sample::inbox().await;
    let run = |command: &str, arguments: &[&str]| {
        run(&[&["inbox", command, text(&file)], arguments].concat())
    };
    let known = "would requeue 1 entry; nothing was changed\n";
    let (exit, out, note) = run("requeue", &["job_dead", "job_dead", "--dry-run"]);
    assert_eq!((exit, out.matches("job_dead").count(), &*note), (Some(0), 1, known));
    let (exit, out, note) = run("requeue", &["job_dead", "nosuch", "job_dead", "nosuch"]);
    assert_eq!((exit, &*out), (Some(0), "requeued 1 entry\n"), "{note}");
    assert_eq!(note, "nothing is known of nosuch\n");

    for command in ["requeue", "discard", "erase"] {
        let (exit, _, error) = run(command, &["nosuch", "none\u{202e}"]);
        let unknown =
            "error: nothing is known of nosuch; nothing is known of none\\u{202e}\nfix:   ";
        assert_eq!((exit, error.starts_with(unknown)), (Some(3), true), "{command}: {error}");
    }
    let (exit, _, error) = run("erase", &["job_done", "--state", "dead"]);
    let says = "error: no entry of job_done passes the filters\nfix:   see what there is: ";
    assert_eq!((exit, error.starts_with(says)), (Some(3), true), "{error}");
}

/// What was ordered stays with a job of the ledger until that is erased, also where nothing of its article is stored.
#[tokio::test]
async fn a_job_without_an_entry_is_erased_from_the_ledger() {
    let (_folder, file) = sample::place();
    let store = SqliteStore::open(&file).unwrap();
    let job = Expect::job("job_1".parse().unwrap(), SystemTime::now());
    store.expect(vec![job]).await.unwrap();
    store.close().await.unwrap();
    let run =
        |arguments: &[&str]| run(&[&["inbox", "erase", text(&file), "job_1"], arguments].concat());
    let (exit, _, note) = run(&["--dry-run"]);
    let would = "would erase 1 job that has no entry; nothing was changed\n";
    assert_eq!((exit, &*note), (Some(0), would));
    let (exit, _, error) = run(&["--state", "dead"]);
    let says = "error: job_1 is in the ledger, and has no entry\n";
    assert_eq!((exit, error.starts_with(says)), (Some(3), true), "{error}");
    let (exit, out, _) = run(&[]);
    assert_eq!((exit, &*out), (Some(0), "erased 1 job that has no entry\n"));
    assert_eq!(run(&[]).0, Some(3), "it is known no more");
}

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
            let (exit, out, error) = run(&[arguments, &[last]].concat());
            assert_eq!((exit, &*out), (Some(3), ""), "{error}");
            let says = "error: 1 entry: the filters leave out another entry of its job";
            assert!(error.starts_with(says), "{error}");
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

#[tokio::test]
async fn an_inbox_that_is_not_named_is_the_one_of_the_variable() {
    let folder = tempfile::tempdir().unwrap();
    let [other, new] = ["other.db", "new.db"].map(|name| folder.path().join(name));
    sample::fill(&other).await;
    let run = |arguments: &[&str], inbox: &Path| {
        let mut run = tool([]);
        let run = run.args(arguments).current_dir(folder.path()).env("ARTICLE_INBOX", inbox);
        seen(&run.output().unwrap())
    };
    let (exit, out, _) = run(&["inbox", "list", "--state", "dead"], &other);
    assert_eq!((exit, out.lines().count()), (Some(0), 2), "{out}");
    let (exit, out, _) = run(&["inbox", "requeue", "--state", "dead", "--yes"], &other);
    assert_eq!((exit, &*out), (Some(0), "requeued 1 entry\n"));
    let (exit, _, error) = run(&["inbox", "list"], &new);
    assert_eq!((exit, error.contains("new.db does not exist")), (Some(5), true), "{error}");

    let (exit, lines, _) = run(&["inbox", "export"], &other);
    assert_eq!(exit, Some(0));
    std::fs::write(folder.path().join("lines"), lines).unwrap();
    let (exit, out, note) = run(&["inbox", "import", text(&new), "lines"], &other);
    assert_eq!((exit, &*out), (Some(0), "added 5 entries; 0 were there already\n"), "{note}");
    assert_eq!(note, format!("made the inbox {}\n", text(&new)));
    // The lock shows that there was one: it is not made in its place.
    std::fs::remove_file(&new).unwrap();
    let (exit, _, error) = run(&["inbox", "import", text(&new), "lines"], &other);
    assert_eq!((exit, error.contains("fix:   put it back")), (Some(5), true), "{error}");
}
