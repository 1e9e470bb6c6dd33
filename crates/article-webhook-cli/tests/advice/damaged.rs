//! Files that are damaged, or that another program has changed.

use std::{fs, process::Command};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::Inbox;
use rusqlite::Connection;

use crate::{
    scene::{JOBS, Scene, copy, deliver, jobs, run_named, stored, stored_or_expected},
    tool::{seen, text as text_of, tool},
};

/// Pages of tables and indexes, which the log does not hold as well.
fn damage(scene: &Scene) {
    let mut bytes = fs::read(&scene.file).unwrap();
    bytes[8192..].chunks_mut(4096).step_by(3).for_each(|sector| sector[..64].fill(0xA5));
    fs::write(&scene.file, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_salvaged_or_a_backup_takes_its_place() {
    let scene = Scene::new().await;
    damage(&scene);
    let text = scene.refused("is damaged (");
    let new = scene.path("new.db");
    run_named(&text, "inbox salvage", &new);
    assert_eq!(stored_or_expected(&new).await, jobs(JOBS));
    let again = scene.refused("is damaged (");
    scene.restore(&again).await;
}

#[track_caller]
fn succeeds(tool: &mut Command) {
    let (exit, out, error) = seen(&tool.output().unwrap());
    assert_eq!(exit, Some(0), "{tool:?}: {out}{error}");
}

#[tokio::test]
async fn a_receiver_goes_on_in_a_new_file_which_then_gets_what_was_salvaged() {
    let scene = Scene::new().await;
    damage(&scene);
    let text = scene.refused("to receive at once, begin with ");
    let [new, salvaged] = ["new.db", "salvaged.db"].map(|name| scene.path(name));
    let begun = run_named(&text, "inbox salvage --begin", &new);
    let shown = new.display();
    let says = format!(
        "begun: start the receiver with {shown}. Its workers are paused. Then: article-webhook inbox salvage DAMAGED SALVAGED, and \
         article-webhook inbox copy SALVAGED {shown}, which ends the pause\n"
    );
    assert_eq!(begun, says);
    let receiver = Inbox::open(&new).await.unwrap();
    deliver(&receiver, JOBS..JOBS + 1).await;
    assert!(receiver.health().await.paused_since.unwrap().is_some());
    run_named(&text, "inbox salvage", &salvaged);
    succeeds(&mut tool(["inbox", "copy", text_of(&salvaged), text_of(&new)]));
    assert_eq!(receiver.health().await.paused_since.unwrap(), None);
    receiver.close().await.unwrap();
    drop(receiver);
    assert_eq!(stored_or_expected(&new).await, jobs(JOBS + 1));
}

#[tokio::test]
async fn what_is_no_database_any_more_is_salvaged_or_a_backup_takes_its_place() {
    let scene = Scene::new().await;
    // With its log, SQLite would read the first page there.
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
    let mut bytes = fs::read(&scene.file).unwrap();
    bytes[..16].fill(0);
    fs::write(&scene.file, bytes).unwrap();
    let text = scene.refused("is not a SQLite database: name another file; or, if it was one, ");
    let new = scene.path("new.db");
    run_named(&text, "inbox salvage", &new);
    assert_eq!(stored_or_expected(&new).await, jobs(JOBS));
    scene.restore(&text).await;
}

#[tokio::test]
async fn a_change_of_another_program_is_undone_or_a_backup_takes_its_place() {
    let changes = [
        (
            "ALTER TABLE article_inbox_bodies ADD COLUMN shop TEXT",
            "ALTER TABLE article_inbox_bodies DROP COLUMN shop",
        ),
        (
            "CREATE TRIGGER audit AFTER UPDATE ON article_inbox_entries BEGIN SELECT 1; END",
            "DROP TRIGGER audit",
        ),
        (
            "ALTER TABLE article_inbox_bodies RENAME TO bodies",
            "ALTER TABLE bodies RENAME TO article_inbox_bodies",
        ),
    ];
    for (change, undo) in changes {
        let scene = Scene::new().await;
        let sql =
            |statement| Connection::open(&scene.file).unwrap().execute_batch(statement).unwrap();
        sql(change);
        let text = scene.refused(": undo the change, or restore ");
        sql(undo);
        assert_eq!(stored(&scene.file).await, jobs(JOBS), "{change}");
        sql(change);
        scene.restore(&text).await;
    }
}

/// The change is refused by the database while the receiver runs.
#[tokio::test]
async fn a_trigger_that_refuses_deliveries_is_looked_for_and_removed() {
    let scene = Scene::new().await;
    let inbox = Inbox::open(&scene.file).await.unwrap();
    let sql = Connection::open(&scene.file).unwrap();
    let trigger = "CREATE TRIGGER audit BEFORE INSERT ON article_inbox_entries BEGIN SELECT RAISE(ABORT, 'no'); END";
    sql.execute_batch(trigger).unwrap();
    for job in ["job_98", "job_99"] {
        let delivery = fixture::minimal().job_id(job).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Unavailable);
    }
    assert_eq!(
        inbox.ready().await.unwrap_err().to_string(),
        "the database refused the change by a rule of its own: look for triggers on the inbox's tables"
    );
    sql.execute_batch("DROP TRIGGER audit").unwrap();
    deliver(&inbox, JOBS..JOBS + 1).await;
    inbox.close().await.unwrap();
    assert_eq!(stored(&scene.file).await, jobs(JOBS + 1));
}

/// A page is damaged while the receiver runs.
#[tokio::test]
async fn damage_that_is_met_while_running_is_named_by_the_next_start() {
    let scene = Scene::new().await;
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
    let inbox = Inbox::open(&scene.file).await.unwrap();
    damage(&scene);
    let error = inbox.list(Default::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the database is damaged: stop the receiver and start it again, which builds indexes again, or says what to do"
    );
    let _ = inbox.close().await;
    drop(inbox);
    let text = scene.refused("is damaged (");
    let new = scene.path("new.db");
    run_named(&text, "inbox salvage", &new);
    assert_eq!(stored_or_expected(&new).await, jobs(JOBS));
}

#[tokio::test]
async fn what_lacks_something_that_was_acknowledged_is_completed_salvaged_or_goes_on_without() {
    let scene = Scene::new().await;
    scene.move_away(&["-wal", "-shm"]);
    let text = scene.refused("put the removed log or the latest copy back");
    let new = scene.path("new.db");
    let salvaged = run_named(&text, "inbox salvage", &new);
    assert_eq!(
        stored_or_expected(&new).await,
        jobs(JOBS / 2),
        "the ids of the others were in the log alone"
    );
    let shown = new.display();
    for says in [
        "more may be lost that has no name: compare with a list of your own, and collect what is missing\n".to_owned(),
        format!(
            "orders may be missing in the ledger, and what is not found is not ordered: compare with the jobs of the service, and then: \
             article-webhook inbox orders-checked {shown}\n"
        ),
    ] {
        assert!(salvaged.contains(&says), "{salvaged}");
    }
    let list = scene.path("list");
    fs::write(&list, jobs(JOBS).into_iter().map(|job| job + "\n").collect::<String>()).unwrap();
    // Beside a receiver, whose collector polls them.
    let receiver = Inbox::open(&new).await.unwrap();
    let mut collect = tool(["collect", "--inbox", text_of(&new), "--from", text_of(&list)]);
    collect.args(["--api-url", "http://127.0.0.1:9"]).env("ARTICLE_API_KEY", "sk-1");
    succeeds(&mut collect);
    succeeds(&mut tool(["inbox", "orders-checked", text_of(&new)]));
    assert_eq!(receiver.ledger_health().await.unwrap().counts.gaps_since, None);
    receiver.close().await.unwrap();
    drop(receiver);
    assert_eq!(stored_or_expected(&new).await, jobs(JOBS));

    copy(&scene.path("away/inbox.db-wal"), &scene.beside("-wal"));
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}

/// A table is removed, and a value is changed, while the receiver runs.
#[tokio::test]
async fn what_the_database_no_longer_knows_is_named_by_the_next_start() {
    let scene = Scene::new().await;
    let inbox = Inbox::open(&scene.file).await.unwrap();
    let sql = Connection::open(&scene.file).unwrap();
    let rename = |from: &str, to: &str| {
        sql.execute_batch(&format!("ALTER TABLE {from} RENAME TO {to}")).unwrap();
    };
    rename("article_inbox_entries", "entries");
    let error = inbox.list(Default::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the database does not accept a statement of the inbox: stop the receiver and start it again, which builds indexes again, or says \
         what to do"
    );
    let _ = inbox.close().await;
    drop(inbox);
    scene.refused(": undo the change, or restore ");
    rename("entries", "article_inbox_entries");
    drop(sql);
    assert_eq!(stored(&scene.file).await, jobs(JOBS));
}
