//! Starts that meet another program or a limit of the system. All others are in `steps/start.txt`.

use std::ops::Range;

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::Inbox;
use rusqlite::Connection;

use crate::{sample, stage::Stage, tool::not_installed};

const START: &str = "article-webhook listen --inbox killed.db --port 0 --no-page $T";

impl Stage {
    /// A receiver starts, and has every article.
    #[track_caller]
    fn starts_with_all(&self) {
        self.works(START);
        let list = self.works("article-webhook inbox list killed.db --json");
        assert_eq!(list.lines().count(), 20, "{list}");
    }
}

#[test]
fn a_program_that_locks_the_file_is_ended() {
    let stage = Stage::killed();
    let other = Connection::open(stage.path("killed.db")).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    stage.refuses(
        START,
        "error: killed.db is locked by another program: Error code 5: database is locked\n\
         fix:   end that program, or wait until it is done",
    );
    drop(other);
    stage.starts_with_all();
}

#[test]
fn a_change_of_another_program_is_undone_or_a_backup_takes_its_place() {
    for (change, found, undo) in [
        (
            "ALTER TABLE article_inbox_bodies ADD COLUMN shop TEXT",
            "article_inbox_bodies differs from what this version makes",
            "ALTER TABLE article_inbox_bodies DROP COLUMN shop",
        ),
        (
            "CREATE TRIGGER audit AFTER UPDATE ON article_inbox_entries BEGIN SELECT 1; END",
            "the trigger audit on article_inbox_entries is not the inbox's",
            "DROP TRIGGER audit",
        ),
        (
            "ALTER TABLE article_inbox_bodies RENAME TO bodies",
            "article_inbox_bodies is missing",
            "ALTER TABLE bodies RENAME TO article_inbox_bodies",
        ),
    ] {
        let stage = Stage::killed();
        let refusal = format!(
            "error: killed.db: {found}\n\
             fix:   undo the change, or restore a backup with `article-webhook inbox restore BACKUP killed.db`"
        );
        stage.sql("killed.db", change);
        stage.refuses(START, &refusal);
        stage.sql("killed.db", undo);
        stage.starts_with_all();
        stage.sql("killed.db", change);
        let restore = "article-webhook inbox restore backup.db killed.db; test $? -le 1";
        let count = "article-webhook inbox list killed.db --json | grep -c '\"job_0' | grep -x 10";
        stage.follow(START, &refusal, &[restore, START, count]);
    }
}

/// The change is refused by the database while the receiver runs.
#[test]
fn a_trigger_that_refuses_deliveries_is_looked_for_and_removed() {
    let stage = Stage::new();
    stage.runtime.block_on(async {
        let inbox = Inbox::open(stage.path("inbox.db")).await.unwrap();
        stage.sql("inbox.db", "CREATE TRIGGER audit BEFORE INSERT ON article_inbox_entries BEGIN SELECT RAISE(ABORT, 'no'); END");
        for job in ["job_98", "job_99"] {
            let delivery = fixture::minimal().job_id(job).delivery().unwrap();
            assert_eq!(inbox.accept(delivery).await, Reply::Unavailable);
        }
        assert_eq!(
            inbox.ready().await.unwrap_err().to_string(),
            "the database refused the change by a rule of its own: look for triggers on the inbox's tables"
        );
        stage.sql("inbox.db", "DROP TRIGGER audit");
        sample::deliver(&inbox, fixture::minimal().job_id("job_98")).await;
        inbox.close().await.unwrap();
    });
}

/// What a start says that is refused by a limit, for each number from the lowest on until one is enough.
fn refused(limited: &str, numbers: Range<u32>) -> Vec<String> {
    let stage = Stage::killed();
    stage.works("cp $(command -v article-webhook) .; chown 65533 . killed.db* || true");
    let start = |number: u32| {
        let limited = limited.replace("NUMBER", &number.to_string());
        // What this test was started with may have left files open, which would count.
        let (line, error) = stage.first_line(&format!(
            "exec 3>&- 4>&- 5>&- 6>&- 7>&-; \
             TOKIO_WORKER_THREADS=1 RUST_BACKTRACE=0 {limited} ./{START}"
        ));
        line.is_empty().then_some(error)
    };
    let texts: Vec<_> = numbers.clone().map_while(start).collect();
    assert!(texts.len() < numbers.len(), "{texts:?}");
    stage.starts_with_all();
    texts
}

/// No text leads to another file while the limit is the cause.
#[test]
fn the_limit_of_open_files_is_named_raised_and_costs_nothing() {
    let texts = refused("prlimit --nofile=NUMBER", 8..64);
    let first = "fix:   raise the limits of threads and of open files\n";
    assert!(texts[0].ends_with(first), "{texts:?}");
    for text in &texts {
        let names_it = text.contains("Too many open files")
            || text.contains("; raise its limit of open files if that is reached");
        assert!(names_it, "{text}");
    }
    assert!(texts.iter().any(|text| text.contains("raise its limit of open files")), "{texts:?}");
}

/// Of a user without another process, because the limit of threads is one of a user.
#[test]
fn the_limit_of_threads_is_named_raised_and_costs_nothing() {
    if !rustix::process::geteuid().is_root() {
        not_installed("the limit of threads is not one of this user's tests: it needs root");
        return;
    }
    let user = "setpriv --reuid=65533 --regid=65533 --clear-groups";
    let texts = refused(&format!("{user} prlimit --nproc=NUMBER"), 1..64);
    let store = "error: no thread can be started for the store: Resource temporarily unavailable (os error 11)\n\
        fix:   raise the limit of threads\n";
    assert!(texts.iter().any(|text| text == store), "{texts:?}");
}
