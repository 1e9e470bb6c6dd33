use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tokio::time::sleep;

use crate::common::*;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no thread panics").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_full_server_says_once_what_its_connections_wait_for() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    let server = server().head_deadline(PATIENCE * 4);
    let running = Running::start(server.max_connections(5), counting());
    let mut peers = Vec::new();
    for bytes in [post(10) + "abc", "GET / HT".to_owned(), String::new(), String::new()] {
        let mut peer = running.connect().await;
        peer.send(bytes).await;
        peers.push(peer);
    }
    sleep(HEAD / 2).await;
    assert_eq!(lines.0.lock().expect("no thread panics").len(), 0, "there is room for one more");
    peers.push(running.connect().await);
    sleep(HEAD).await;
    let lines = String::from_utf8(lines.0.lock().expect("no thread panics").clone());
    let line = " WARN article_webhook_server: the server is full: a new connection waits until one ends. \
                Strangers can cause this, and a proxy in front can limit them seconds=0 \
                connections=4 without a complete head, 1 without a complete body\n";
    assert_eq!(lines.expect("it is text"), line);
}
