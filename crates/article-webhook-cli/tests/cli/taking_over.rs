//! A second receiver that waits for the end of the first one, as in a restart without a gap in which nothing answers.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use article_webhook::{Delivery, Reply, fixture};
use article_webhook_inbox::{Inbox, SqliteStore, State};
use rustix::process::Signal;

use crate::{
    free_port::free_port,
    listening::{Listening, TOKEN, application},
    running::TIMEOUT,
    server::post,
    tool::{seen, text, tool},
};

const JOBS: usize = 60;

/// The first two receivers are stopped while this many deliveries were made.
const ENDS_AFTER: usize = JOBS / 3;

/// Delivers once, and returns the response. Empty: no receiver was there.
pub(crate) fn deliver(url: &str, job_id: &str) -> String {
    let sent = fixture::minimal().job_id(job_id).token(TOKEN);
    let headers = sent.headers().iter().map(|(name, value)| (&**name, &value[..]));
    post(url, headers, sent.bytes())
}

async fn takes_over(signal: Signal, exit: Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    // What the application got, in the order of its arrival.
    let published = Arc::new(Mutex::new(Vec::new()));
    let addresses = [free_port(), free_port()];
    for (receiver, address) in addresses.into_iter().enumerate() {
        let published = Arc::clone(&published);
        let sink = move |delivery: Delivery| {
            published.lock().unwrap().push((receiver, delivery.job_id().to_string()));
            async { Reply::Stored }
        };
        application(address, sink).await;
    }

    let first = Listening::start(&file, addresses[0], &["--no-page"]);
    let mut refused = tool(["listen", "--no-page", "--port", "0", "--inbox", text(&file)]);
    let refused =
        refused.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut refused = refused.spawn().unwrap();
    let mut listens = String::new();
    BufReader::new(refused.stdout.take().unwrap()).read_line(&mut listens).unwrap();
    let _ = refused.kill();
    let (_, _, error) = seen(&refused.wait_with_output().unwrap());
    assert_eq!(listens, "", "both work at once");
    assert!(error.contains("`article-webhook listen --wait`"), "{error}");

    let second = Listening::start(&file, addresses[1], &["--no-page", "--wait"]);
    let early = deliver(&second.url, "early");
    assert!(early.starts_with("HTTP/1.1 503 "), "{early}");
    assert!(early.to_ascii_lowercase().contains("\r\nretry-after: 10\r\n"), "{early}");

    let urls = [first.url.clone(), second.url.clone()];
    let service = thread::spawn(move || {
        for job in 0..JOBS {
            // The service tries again until it is answered 200.
            let job = format!("job_{job}");
            let is_stored = |url: &String| deliver(url, &job).starts_with("HTTP/1.1 200 ");
            while !urls.iter().any(is_stored) {
                thread::sleep(Duration::from_millis(10));
            }
        }
    });
    let done = || published.lock().unwrap().len();
    wait_until(|| done() >= ENDS_AFTER);
    assert_eq!(first.end(signal), exit);
    service.join().unwrap();

    let inbox = Inbox::new(SqliteStore::open_shared(&file).unwrap());
    let start = std::time::Instant::now();
    while inbox.counts().await.unwrap().of(State::Done) < JOBS as u64 {
        assert!(start.elapsed() < TIMEOUT, "{:?}", inbox.counts().await);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let jobs = inbox.jobs(Default::default()).await.unwrap().items;
    assert!(
        jobs.iter().any(|job| job.job_id.as_str() == "early"),
        "it was refused, and is expected"
    );
    inbox.close().await.unwrap();
    assert_eq!(second.end(Signal::TERM), Some(0));

    let published = published.lock().unwrap();
    let turn = published.iter().position(|(receiver, _)| *receiver == 1).unwrap();
    assert!(
        published[turn..].iter().all(|(receiver, _)| *receiver == 1),
        "both at once: {published:?}"
    );
    let count = |job: usize| {
        let job = format!("job_{job}");
        published.iter().filter(|(_, published)| *published == job).count()
    };
    let twice = (0..JOBS).filter(|job| count(*job) > 1).count();
    assert!((0..JOBS).all(|job| count(job) >= 1), "{published:?}");
    // A handler that was killed runs again.
    let may_be_twice = if signal == Signal::KILL { 8 } else { 0 };
    assert!(twice <= may_be_twice, "{published:?}");
}

fn wait_until(is_so: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !is_so() {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_waits_follows_one_that_is_stopped() {
    takes_over(Signal::TERM, Some(0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_waits_follows_one_that_is_killed() {
    takes_over(Signal::KILL, None).await;
}

#[test]
fn a_receiver_that_waits_ends_by_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let first = Listening::start(&file, free_port(), &["--no-page"]);
    let second = Listening::start(&file, free_port(), &["--no-page", "--wait"]);
    assert_eq!(second.end(Signal::TERM), Some(0));
    assert!(deliver(&first.url, "job_1").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_receiver_that_waits_says_when_it_begins_to_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let first = Listening::start(&file, free_port(), &["--no-page"]);
    let mut second = tool(["listen", "--no-page", "--port", "0", "--wait", "--inbox", text(&file)]);
    let second = second.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).stderr(Stdio::piped());
    let mut second = second.stdout(Stdio::null()).spawn().unwrap();
    let mut notes = BufReader::new(second.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(
        notes.any(
            |note| note.contains("deliveries are answered 503 meanwhile: another process uses")
        )
    );
    assert_eq!(first.end(Signal::TERM), Some(0));
    assert!(notes.any(|note| note == "that process has ended: deliveries are stored"));
    second.kill().unwrap();
    second.wait().unwrap();
}

/// The old file was damaged by what came between.
#[test]
fn a_receiver_whose_start_is_refused_after_the_wait_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let first = Listening::start(&file, free_port(), &["--no-page"]);
    let second = Listening::start(&file, free_port(), &["--no-page", "--wait"]);
    let sql = rusqlite::Connection::open(&file).unwrap();
    let trigger = "CREATE TRIGGER audit AFTER UPDATE ON article_inbox_entries BEGIN SELECT 1; END";
    sql.execute_batch(trigger).unwrap();
    drop(sql);
    assert_eq!(first.end(Signal::TERM), Some(0));
    assert_eq!(second.ended(), Some(5));
}
