//! The log says once why a handler failed, in the field `cause`. In a process of its own, because the log is one of the
//! process.
#![allow(clippy::unwrap_used)] // a test's unwrap is an assertion

use std::{io, sync::Arc, time::Duration};

use article_webhook::{AuthToken, Reply, Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job};
use article_webhook_inbox_contract::log_buffer::LogBuffer;

async fn publish(job: Job) -> Result<(), Failed> {
    if job.attempt() == 1 {
        return Err(Failed::retry_after("the blog is\ndown", Duration::ZERO));
    }
    let unreadable = AuthToken::from_file("no folder/token").unwrap_err();
    Err(Failed::dead(io::Error::other(unreadable)))
}

async fn work(job_id: &str) {
    let inbox = Inbox::memory();
    let delivery = fixture::complete().job_id(job_id).delivery().unwrap();
    assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    inbox.worker(publish).run_until_idle().await.unwrap();
}

#[tokio::test]
async fn a_failed_attempt_is_logged_once_with_its_causes() {
    let log = Arc::new(LogBuffer::new());
    tracing_subscriber::fmt().with_ansi(false).with_writer(Arc::clone(&log)).init();

    work("job_1").await;
    let text = log.text();
    let line = |words: &str| text.lines().find(|line| line.contains(words)).unwrap();
    let retried = line("attempt failed, and another will follow");
    assert!(
        retried.contains(" WARN article_webhook_inbox: ") && retried.contains("job_1"),
        "{retried}"
    );
    assert!(retried.ends_with(r"cause=the blog is\ndown"), "escaped once: {retried}");
    assert!(retried.contains(r#"job_id="job_1" event="article.complete""#), "{retried}");
    let dead = line("entry is dead");
    let cause = "cause=the token file no folder/token cannot be read: No such file";
    assert!(dead.contains(cause), "{dead}");
    for cause in ["the blog is", "No such file"] {
        assert_eq!(text.matches(cause).count(), 1, "{text}");
    }
}
