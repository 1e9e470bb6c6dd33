use std::sync::Arc;

use tokio::time::sleep;
use tracing::subscriber::DefaultGuard;

use crate::{common::*, log_buffer::LogBuffer};

/// Collects the log of this thread.
fn collect() -> (Arc<LogBuffer>, DefaultGuard) {
    let log = Arc::new(LogBuffer::new());
    let subscriber =
        tracing_subscriber::fmt().with_ansi(false).without_time().with_writer(Arc::clone(&log));
    (log, tracing::subscriber::set_default(subscriber.finish()))
}

#[tokio::test]
async fn a_refused_head_is_logged_without_what_it_says_and_the_next_is_not() {
    for (head, line) in [
        (
            "GET / HTTP/1.1\r\nHost: receiver.test\r\nX: ".to_owned() + &"canary".repeat(12_000),
            "a request was refused before the application could see it; a head may have 16 KiB and 100 headers: look at what a \
             proxy in front adds. Strangers can cause this, and it is logged at most once in ten seconds status=431 \
             error=message head is too large\n",
        ),
        (
            "canary\r\n\r\n".to_owned(),
            "a request was refused before the application could see it; something that does not speak HTTP/1.1 sends to this \
             port. Strangers can cause this, and it is logged at most once in ten seconds status=400 error=invalid HTTP method \
             parsed\n",
        ),
    ] {
        let (log, _guard) = collect();
        let running = Running::start(server(), counting());
        for _ in 0..2 {
            let mut peer = running.send(head.clone()).await;
            assert!(peer.rest().await.starts_with("HTTP/1.1 4"));
        }
        assert_eq!(log.text(), format!(" WARN article_webhook_server: {line}"));
    }
}

#[tokio::test]
async fn a_full_server_says_once_what_its_connections_wait_for() {
    let (log, _guard) = collect();
    let server = server().head_deadline(TIMEOUT * 4);
    let running = Running::start(server.max_connections(5), counting());
    let mut peers = Vec::new();
    for bytes in [post(10) + "abc", "GET / HT".to_owned(), String::new(), String::new()] {
        let peer = running.send(bytes).await;
        peers.push(peer);
    }
    sleep(HEAD / 2).await;
    assert_eq!(log.text(), "", "there is room for one more");
    peers.push(running.connect().await);
    sleep(HEAD).await;
    let line = " WARN article_webhook_server: the server is full: a new connection waits until one ends. \
                Strangers can cause this, and a proxy in front can limit them seconds=0 \
                connections=4 without a complete head, 1 without a complete body\n";
    assert_eq!(log.text(), line);
}
