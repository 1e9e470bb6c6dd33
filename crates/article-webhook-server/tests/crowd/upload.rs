//! A good delivery whose body comes slowly, and what became of it.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use article_webhook_axum::fixture;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, sleep_until, timeout},
};

use crate::good::request;

/// What became of those that were let in.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    pub(crate) stored: usize,
    /// The server accepted them, and they were not stored.
    pub(crate) cut: usize,
    /// The longest wait of one that was let in.
    pub(crate) longest_wait: Duration,
}

/// How long a sender waits for the server.
const TIMEOUT: Duration = Duration::from_secs(10);
const PIECES: u32 = 20;

impl Uploads {
    /// `count` uploads that begin at even intervals `within` a time, each with a body that takes `body`.
    pub(crate) async fn run(
        address: SocketAddr,
        count: u32,
        within: Duration,
        body: Duration,
    ) -> Self {
        let start = tokio::time::Instant::now();
        let one = |index: u32| async move {
            sleep_until(start + within / count * index).await;
            upload(address, body).await
        };
        let mut running: JoinSet<_> = (0..count).map(one).collect();
        let mut uploads = Self::default();
        while let Some(ended) = running.join_next().await {
            let Some((is_stored, wait)) = ended.expect("no task panics") else { continue };
            uploads.stored += usize::from(is_stored);
            uploads.cut += usize::from(!is_stored);
            uploads.longest_wait = uploads.longest_wait.max(wait);
        }
        uploads
    }
}

/// Uploads, and returns whether that was stored and how long the server made it wait for `100 Continue`: the sign that it was let
/// in. `None`: the server did not accept it in time.
async fn upload(address: SocketAddr, body: Duration) -> Option<(bool, Duration)> {
    let post = fixture::generated(1, 16 << 10).header("Expect", "100-continue");
    let request = request(&post);
    let (head, bytes) = request.split_at(request.len() - post.bytes().len());
    let start = Instant::now();
    let let_in = timeout(TIMEOUT, async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let mut answer = Vec::new();
        let is_let_in = async {
            stream.write_all(head).await?;
            while !answer.ends_with(b"\r\n\r\n") {
                if stream.read_buf(&mut answer).await? == 0 {
                    break;
                }
            }
            std::io::Result::Ok(answer.starts_with(b"HTTP/1.1 100"))
        };
        Some((is_let_in.await.unwrap_or(false), stream))
    });
    let (is_let_in, mut stream) = let_in.await.ok()??;
    let wait = start.elapsed();
    let rest = async {
        for piece in bytes.chunks(bytes.len().div_ceil(PIECES as usize)) {
            sleep(body / PIECES).await;
            stream.write_all(piece).await?;
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with(b"HTTP/1.1 200"))
    };
    let ended = timeout(TIMEOUT + body, rest).await;
    Some((is_let_in && ended.is_ok_and(|end| end.unwrap_or(false)), wait))
}
