//! A good delivery whose body comes slowly, and what became of it.

use std::{net::SocketAddr, time::Duration};

use article_webhook_axum::fixture;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::good::request;

/// What became of those that were let in.
#[derive(Debug, Default)]
pub(crate) struct Uploads {
    pub(crate) stored: usize,
    /// The server accepted them, and they were not stored.
    pub(crate) cut: usize,
}

/// How long a sender waits for the server.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long each body takes, and the time over which the uploads begin.
const BODY: Duration = Duration::from_secs(3);
const UPLOADS: u32 = 100;
const PIECES: u32 = 20;

impl Uploads {
    /// Uploads that begin at even intervals.
    pub(crate) async fn run(address: SocketAddr) -> Self {
        let start = Instant::now();
        let one = |index: u32| async move {
            sleep_until(start + BODY / UPLOADS * index).await;
            upload(address).await
        };
        let mut running: JoinSet<_> = (0..UPLOADS).map(one).collect();
        let mut uploads = Self::default();
        while let Some(ended) = running.join_next().await {
            match ended.expect("no task panics") {
                Some(true) => uploads.stored += 1,
                Some(false) => uploads.cut += 1,
                None => {}
            }
        }
        uploads
    }
}

/// Whether an upload was stored that was let in, of which `100 Continue` is the sign. `None`: the server did not accept it in time.
async fn upload(address: SocketAddr) -> Option<bool> {
    let post = fixture::generated(1, 16 << 10).header("Expect", "100-continue");
    let request = request(&post);
    let (head, bytes) = request.split_at(request.len() - post.bytes().len());
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
    let rest = async {
        for piece in bytes.chunks(bytes.len().div_ceil(PIECES as usize)) {
            sleep(BODY / PIECES).await;
            stream.write_all(piece).await?;
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with(b"HTTP/1.1 200"))
    };
    let ended = timeout(TIMEOUT + BODY, rest).await;
    Some(is_let_in && ended.is_ok_and(|end| end.unwrap_or(false)))
}
