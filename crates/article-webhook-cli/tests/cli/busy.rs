//! Changes in bulk of an inbox that others write to.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use article_webhook::fixture;
use article_webhook_inbox::{Inbox, SqliteStore};
use futures_util::future::join_all;
use rusqlite::Connection;

use crate::{
    running::Running,
    sample,
    tool::{TOKEN, seen, text, tool},
};

fn change(command: &str, file: &Path, options: &[&str]) -> Command {
    let mut change = tool(["inbox", command, text(file), "--yes"]);
    change.args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
    change
}

/// Makes the inbox, and holds its lock.
async fn locked(file: &Path) -> Connection {
    sample::fill(file).await;
    let other = Connection::open(file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

#[tokio::test]
async fn a_change_outlasts_a_lock_that_is_longer_than_a_call_waits() {
    let (_folder, file) = sample::place();
    let other = locked(&file).await;
    let erase = change("erase", &file, &["--all"]).spawn().unwrap();
    thread::sleep(Duration::from_secs(3));
    other.execute_batch("ROLLBACK").unwrap();
    let (exit, out, error) = seen(&erase.wait_with_output().unwrap());
    assert_eq!((exit, &*out), (Some(0), "erased 5 entries\n"), "{error}");
}

#[tokio::test]
async fn a_change_that_finds_the_inbox_locked_says_how_much_was_done() {
    let (_folder, file) = sample::place();
    let other = locked(&file).await;
    let (exit, out, error) = seen(&change("erase", &file, &["--all"]).output().unwrap());
    other.execute_batch("ROLLBACK").unwrap();
    let says = "error: erased 0 of 5 entries, then failed: ";
    assert!(exit == Some(5) && out.is_empty() && error.starts_with(says), "{exit:?} {error}");
    assert!(error.ends_with("\nfix:   repeat the command for the others\n"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_takes_deliveries_beside_two_changes_in_bulk() {
    let (_folder, file) = sample::place();
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    for jobs in (0..3_000).collect::<Vec<_>>().chunks(500) {
        let deliver = |job: &i32| {
            let event = if job % 2 == 0 { "article.complete" } else { "article.updated" };
            let request = fixture::minimal().job_id(&format!("job_{job}"));
            sample::deliver(&inbox, request.header("X-Service-Event", event))
        };
        join_all(jobs.iter().map(deliver)).await;
    }
    inbox.close().await.unwrap();

    let mut listen = tool(["listen", "--port", "0", "--json", "--inbox", text(&file)]);
    let (_listen, started) = Running::start(listen.env("ARTICLE_WEBHOOK_TOKEN", TOKEN));
    let url = started["listening"].as_str().unwrap();

    let updated = ("discard", "article.updated");
    let changes = [("erase", "article.complete"), updated].map(|(command, event)| {
        let mut change = change(command, &file, &["--event", event]);
        thread::spawn(move || seen(&change.output().unwrap()))
    });
    let mut sent = 0;
    while !changes.iter().all(thread::JoinHandle::is_finished) {
        let job = format!("job_meanwhile_{sent}");
        let mut send = tool(["send", url, "--job", &job]);
        let send = send.env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
        // On a slow machine one is refused now and then. The service would deliver it again, later than here.
        if seen(&send.output().unwrap()).0 != Some(0) {
            let (exit, out, error) = seen(&send.output().unwrap());
            assert_eq!(exit, Some(0), "{out}{error}");
        }
        sent += 1;
    }
    assert!(sent > 0);
    for change in changes {
        let (exit, _, error) = change.join().unwrap();
        assert_eq!(exit, Some(0), "{error}");
    }
}
