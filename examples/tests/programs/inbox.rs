use std::{
    io::{self, Write as _},
    path::Path,
    process::Command,
};

use article_webhook_axum::{
    Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{Counts, Inbox, State};

use crate::program::{Program, command};

const RECEIVERS: [&str; 2] = ["inbox_axum", "inbox_actix_web"];

/// The number of lines before the first article.
const INVITATION: usize = 7;

fn start(example: &str, path: &Path) -> Program {
    let mut program = Program::run(command(example).env("ARTICLE_INBOX_DB", path));
    program.lines(INVITATION);
    program
}

/// Waits for a future without a runtime.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Stores a delivery without working on it, like a receiver that dies right after its answer.
fn leave_behind(path: &Path, post: &DeliveryRequest) {
    wait(async {
        let inbox = Inbox::open(path).await.unwrap();
        let open = fixture::receiver().open(post.headers()).unwrap();
        let delivery = open.read(post.bytes().clone()).unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
        inbox.close().await.unwrap();
    });
}

fn counts(path: &Path) -> Counts {
    wait(async {
        let inbox = Inbox::open(path).await.unwrap();
        let counts = inbox.counts().await.unwrap();
        inbox.close().await.unwrap();
        counts
    })
}

/// Runs an example that ends by itself. Returns its output.
fn out_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    out
}

#[test]
fn an_article_that_was_stored_before_a_restart_is_printed_once() {
    for example in RECEIVERS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("articles.db");
        let (left, next) =
            (fixture::complete().job_id("job_left"), fixture::complete().job_id("job_next"));
        leave_behind(&path, &left);

        let mut program = start(example, &path);
        assert!(program.line().starts_with("job_left  "), "{example}");
        assert_eq!(program.deliver(&left).body, r#"{"status":"duplicate"}"#, "{example}");
        assert_eq!(program.deliver(&next).body, r#"{"status":"stored"}"#, "{example}");
        assert!(program.line().starts_with("job_next  "), "{example}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_order_and_nothing_is_printed_twice() {
    use rustix::process::Signal;

    for (example, signal) in [
        ("inbox_axum", Signal::TERM),
        ("inbox_axum", Signal::INT),
        ("inbox_actix_web", Signal::TERM),
        ("inbox_actix_web", Signal::INT),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("articles.db");
        let mut program = start(example, &path);
        for job_id in ["job_1", "job_2"] {
            assert_eq!(program.deliver(&fixture::complete().job_id(job_id)).status, 200);
            assert!(program.line().starts_with(job_id), "{example}");
        }
        assert_eq!(program.end(signal), (Some(0), Vec::new()), "{example} {signal:?}");
        let log = folder.path().join("articles.db-wal");
        assert!(!log.exists(), "{example} leaves everything in one file");

        let program = start(example, &path);
        assert_eq!(
            program.deliver(&fixture::complete().job_id("job_2")).body,
            r#"{"status":"duplicate"}"#
        );
        assert_eq!(program.end(signal), (Some(0), Vec::new()), "{example} {signal:?}");
        let counts = counts(&path);
        assert_eq!((counts.of(State::Done), counts.total()), (2, 2), "{example}");
    }
}

#[test]
fn a_job_that_is_handed_over_twice_is_in_the_queue_once() {
    let expected = "\
delivered  job_1  Stored
delivered  job_2  Stored
delivered  job_2  Duplicate
attempt 1  job_1  pushed to the queue
attempt 1  job_2  pushed to the queue
attempt 2  job_2  is in the queue already
the queue has 2 jobs
";
    assert_eq!(out_of(&mut command("hand_over")), expected);
}

/// What an example with PostgreSQL prints; `None` if there is no server to try it with.
fn out_with_postgres(example: &str) -> Option<String> {
    let mut command = command(example);
    match std::env::var("ARTICLE_TEST_POSTGRES_URL") {
        Ok(url) => command.env("DATABASE_URL", url),
        Err(_) => command.env_remove("DATABASE_URL"),
    };
    let output = command.output().unwrap();
    let (out, error) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    if error.starts_with("error: there is no PostgreSQL") {
        assert_eq!(output.status.code(), Some(2));
        assert!(std::env::var_os("CI").is_none(), "{error}");
        let why = error.lines().next().unwrap_or_default();
        writeln!(io::stdout(), "\npostgres: skipped: {why}").expect("there is an output");
        return None;
    }
    assert!(output.status.success(), "{out}{error}");
    Some(out)
}

#[test]
fn a_sink_of_the_application_stores_each_delivery_once_in_postgresql() {
    let Some(out) = out_with_postgres("sink_postgres") else { return };
    let expected = "\
job_1  Stored
job_2  Stored
job_1  Duplicate
job_3  Retry
job_3  Stored
3 rows
";
    assert_eq!(out, expected);
}

#[test]
fn two_nodes_share_an_inbox_in_postgresql() {
    let Some(out) = out_with_postgres("inbox_postgres") else { return };
    let received = "\
node 1  receives  job_1  Stored
node 2  receives  job_2  Stored
node 1  receives  job_3  Stored
node 2  receives  job_4  Stored
node 1  receives  job_5  Stored
node 2  receives  job_6  Stored
node 2  receives  job_1  Duplicate
node 1  receives  job_2  Duplicate
";
    let handled = out.strip_prefix(received).unwrap_or_else(|| panic!("{out}"));
    let mut handled: Vec<_> = handled.lines().collect();
    assert_eq!(handled.pop(), Some("6 rows of 6 articles"));
    let mut jobs: Vec<_> =
        handled.iter().filter_map(|line| line.split("  handles   ").nth(1)).collect();
    jobs.sort_unstable();
    assert_eq!(jobs, ["job_1", "job_2", "job_3", "job_4", "job_5", "job_6"], "{out}");
}

#[test]
fn a_lost_lease_takes_the_applications_rows_with_it() {
    let expected = "\
job_1  Stored
job_2  Stored
job_1  attempt 1  article stored, job done
job_2  attempt 1  rolled back
job_2  attempt 2  article stored, job done
job_1  1 row
job_2  1 row
";
    assert_eq!(out_of(&mut command("exactly_once")), expected);
}
