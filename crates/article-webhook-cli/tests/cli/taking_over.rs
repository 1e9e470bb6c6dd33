//! A second receiver that waits for the end of the first one, as in a restart without a gap in which nothing answers.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use article_webhook::{Delivery, Reply, fixture};
use article_webhook_inbox::{Inbox, SqliteStore, State};
use rustix::process::Signal;
use tokio::time::{sleep, timeout};

use crate::{
    free_port::free_port,
    listening::{Listening, application},
    running::{Running, TIMEOUT, until},
    sample,
    server::post,
    tool::{TOKEN, text, tool},
};

const JOBS: usize = 60;

/// The first two receivers are stopped while this many deliveries were made.
const ENDS_AFTER: usize = JOBS / 3;

/// Delivers once, and returns the response. Empty: no receiver was there.
fn deliver(url: &str, job_id: &str) -> String {
    let sent = fixture::minimal().job_id(job_id).token(TOKEN);
    let headers = sent.headers().iter().map(|(name, value)| (&**name, &value[..]));
    post(url, headers, sent.bytes())
}

async fn takes_over(signal: Signal, exit: Option<i32>) {
    let (_folder, file) = sample::place();
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
    let mut refused = Running::of(&mut listen(&file));
    let listens = refused.lines.as_mut().unwrap().next();
    assert!(listens.is_none(), "both work at once: {listens:?}");
    let (_, error) = refused.ended_with_error();
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
    until("nothing is passed on", || (done() >= ENDS_AFTER).then_some(()));
    assert_eq!(first.end(signal), exit);
    service.join().unwrap();

    let inbox = Inbox::new(SqliteStore::open_shared(&file).unwrap());
    let all = timeout(TIMEOUT, async {
        while inbox.counts().await.unwrap().of(State::Done) < JOBS as u64 {
            sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(all.await.is_ok(), "{:?}", inbox.counts().await);
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

/// A receiver that does not run beside another.
fn listen(file: &Path) -> Command {
    let mut listen = tool(["listen", "--no-page", "--port", "0", "--inbox", text(file)]);
    listen.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).stdout(Stdio::piped()).stderr(Stdio::piped());
    listen
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
    let (_folder, file) = sample::place();
    let first = Listening::with(&file, &["--no-page"], Stdio::null());
    let second = Listening::with(&file, &["--no-page", "--wait"], Stdio::null());
    assert_eq!(second.end(Signal::TERM), Some(0));
    assert!(deliver(&first.url, "job_1").starts_with("HTTP/1.1 200 "));
}

/// The old file was damaged by what came between.
#[test]
fn a_receiver_whose_start_is_refused_after_the_wait_ends() {
    let (_folder, file) = sample::place();
    let first = Listening::with(&file, &["--no-page"], Stdio::null());
    let mut second = Listening::with(&file, &["--no-page", "--wait"], Stdio::null());
    let sql = rusqlite::Connection::open(&file).unwrap();
    let trigger = "CREATE TRIGGER audit AFTER UPDATE ON article_inbox_entries BEGIN SELECT 1; END";
    sql.execute_batch(trigger).unwrap();
    drop(sql);
    assert_eq!(first.end(Signal::TERM), Some(0));
    assert_eq!(second.process.ended(), Some(5));
}
