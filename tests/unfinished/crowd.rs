use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use article_webhook::fixture::TOKEN;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
    task::JoinSet,
    time::{sleep, timeout},
};

/// Senders who have sent a part of their bodies, and keep their connections open.
pub(crate) struct Crowd {
    _runtime: Runtime,
    _senders: JoinSet<()>,
    /// Those who were answered, or whose connections were closed.
    pub(crate) refused: usize,
}

#[derive(Default)]
struct Progress {
    /// Senders who have sent their part, or were refused before.
    sent: AtomicUsize,
    refused: AtomicUsize,
}

fn head(length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: receiver.test\r\nAuthorization: {TOKEN}\r\nContent-Type: application/json\r\n\
         X-Service-Event: article.complete\r\nX-Service-Job-Id: job_1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// All at once: each sends 1 MiB of a body of 8, in parts, until the server refuses it. Then there are 10 s for
/// `refused` of them to be refused.
pub(crate) fn gather(address: SocketAddr, count: usize, refused: usize) -> Crowd {
    let runtime = Runtime::new().expect("there are threads");
    let progress = Arc::new(Progress::default());
    let mut senders = JoinSet::new();
    for _ in 0..count {
        senders.spawn_on(begin(address, Arc::clone(&progress)), runtime.handle());
    }
    runtime.block_on(async {
        while progress.sent.load(Relaxed) < count {
            sleep(Duration::from_millis(20)).await;
        }
        let end = Instant::now() + Duration::from_secs(10);
        while progress.refused.load(Relaxed) < refused && Instant::now() < end {
            sleep(Duration::from_millis(20)).await;
        }
    });
    Crowd { _runtime: runtime, _senders: senders, refused: progress.refused.load(Relaxed) }
}

async fn begin(address: SocketAddr, progress: Arc<Progress>) {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let part = [b' '; 32 << 10];
    let mut is_open = stream.write_all(head(8 << 20).as_bytes()).await.is_ok();
    for _ in 0..32 {
        // The server closes the connection of a sender that it refuses, maybe before the answer is read.
        is_open = is_open && stream.write_all(&part).await.is_ok();
    }
    progress.sent.fetch_add(1, Relaxed);
    // An answer or the end of the connection.
    _ = stream.read(&mut [0]).await;
    progress.refused.fetch_add(1, Relaxed);
}

/// Whether an article of 8 MiB is stored.
pub(crate) fn is_stored(address: SocketAddr) -> bool {
    Runtime::new().expect("there are threads").block_on(async {
        let article = r#"{"job_id":"job_1","status":"complete","article":{"title":"","html":""}}"#;
        let body = [article, &" ".repeat((8 << 20) - article.len())].concat();
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        // A server that refuses it does not read it to its end.
        _ = stream.write_all([head(body.len()), body].concat().as_bytes()).await;
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer);
        _ = timeout(Duration::from_secs(10), read).await.expect("the server ends the exchange");
        answer.starts_with("HTTP/1.1 200")
    })
}
