//! Another process has the file.

use std::{future::pending, sync::Arc, time::Duration};

use article_webhook_inbox::{Failed, Inbox, Job, SqliteStore, State};
use rusqlite::Connection;
use tokio::{sync::Semaphore, time::timeout};

use crate::scene::{JOBS, Scene, deliver, jobs, stored};

#[tokio::test]
async fn a_program_that_locks_the_file_is_ended() {
    let scene = Scene::new().await;
    let other = Connection::open(&scene.file).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    scene.refused("is locked by another program: end that program, or wait until it is done");
    drop(other);
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}

/// A worker in a process of its own would get nothing in a file of its own, and claims nothing as a tool.
#[tokio::test]
async fn a_worker_runs_in_the_process_of_the_receiver() {
    let scene = Scene::new().await;
    let receiver = Inbox::open(&scene.file).await.unwrap();
    let worker = Inbox::new(SqliteStore::open_shared(&scene.file).unwrap());
    let handled = Arc::new(Semaphore::new(0));
    let publish = {
        let handled = Arc::clone(&handled);
        move |_: Job| {
            handled.add_permits(1);
            async { Ok::<_, Failed>(()) }
        }
    };
    let refused = worker.worker(publish.clone()).run(pending::<()>()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a tool beside the receiver claims nothing: run worker and collector in the receiver's process"
    );
    worker.close().await.unwrap();

    let all = u32::try_from(JOBS).unwrap();
    let run = receiver.worker(publish).run(async { _ = handled.acquire_many(all).await });
    timeout(Duration::from_secs(30), run).await.unwrap().unwrap();
    assert_eq!(receiver.counts().await.unwrap().of(State::Done), JOBS as u64);
}

#[tokio::test]
async fn what_the_process_has_open_is_cloned_or_closed_first() {
    let scene = Scene::new().await;
    let inbox = Inbox::open(&scene.file).await.unwrap();
    scene.refused("open already: clone the inbox or the store that is open, or close it first");
    deliver(&inbox.clone(), JOBS..JOBS + 1).await;
    inbox.close().await.unwrap();
    assert_eq!(stored(&scene.file).await, jobs(JOBS + 1));
}

#[tokio::test]
async fn a_tool_names_the_database_of_a_receiver_that_has_started() {
    let scene = Scene::new().await;
    let other = scene.path("other.db");
    let refused = || SqliteStore::open_shared(&other).unwrap_err().to_string();
    let says = "does not exist: name the receiver's database, and start the receiver first";
    assert!(refused().ends_with(says), "{}", refused());
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE shop (id)").unwrap();
    let says = "is a database without an inbox: check the path; a receiver that starts with this file adds an inbox to it";
    assert!(refused().ends_with(says), "{}", refused());

    let inbox = Inbox::open(&other).await.unwrap();
    SqliteStore::open_shared(&other).unwrap();
    inbox.close().await.unwrap();
    drop(inbox);
    let rows =
        Connection::open(&other)
            .unwrap()
            .query_row("SELECT count(*) FROM shop", [], |row| row.get(0));
    assert_eq!(rows, Ok(0), "the other program has its table still");
}
