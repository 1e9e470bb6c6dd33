//! The log says once why a handler failed, in the field `cause`.

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

#[tokio::test]
async fn a_failed_attempt_is_logged_once_with_its_causes() {
    let log = Arc::new(LogBuffer::new());
    tracing_subscriber::fmt().with_ansi(false).with_writer(Arc::clone(&log)).init();

    let inbox = Inbox::memory();
    let delivery = fixture::complete().job_id("job_of_causes").delivery().unwrap();
    assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    inbox.worker(publish).run_until_idle().await.unwrap();
    // The log is that of the process.
    let text = log.text();
    let mut lines = text.lines().filter(|line| line.contains(r#"job_id="job_of_causes""#));
    let mut line = |words: &str| lines.find(|line| line.contains(words)).unwrap();
    let retried = line("attempt failed, and another will follow");
    assert!(retried.contains(" WARN article_webhook_inbox: "), "{retried}");
    assert!(retried.ends_with(r"cause=the blog is\ndown"), "escaped once: {retried}");
    assert!(retried.contains(r#" event="article.complete""#), "{retried}");
    let dead = line("entry is dead");
    let cause = "cause=the token file no folder/token cannot be read: No such file";
    assert!(dead.contains(cause), "{dead}");
    for cause in ["the blog is", "No such file"] {
        assert_eq!(text.matches(cause).count(), 1, "{text}");
    }
}
