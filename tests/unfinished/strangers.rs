//! Strangers who hold connections of `article-webhook-server`, and what all of them together take of its memory.

use std::{net::SocketAddr, sync::Arc, thread, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
    sync::Barrier,
    task::JoinSet,
};

use crate::child::ServerProcess;

/// What each of them sends. It is never complete.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Nothing,
    /// The beginning of the longest head that is let in.
    Head,
    /// A head with the most bytes and headers that are let in, without the token, and the first byte of a body. All end
    /// their heads at once, because each is refused soon after.
    Body,
}

/// One byte less than a head may have.
const LONGEST_HEAD: usize = (16 << 10) - 1;

impl Part {
    /// What is sent when all are connected, and what is sent when the server has read that of all.
    fn bytes(self) -> (Vec<u8>, &'static [u8]) {
        let line = "POST / HTTP/1.1\r\nHost: receiver.test\r\n".to_owned();
        match self {
            Self::Nothing => (Vec::new(), b""),
            Self::Head => {
                let begin = line + "X-Long: ";
                let rest = LONGEST_HEAD - begin.len();
                ([begin, "a".repeat(rest)].concat().into_bytes(), b"")
            }
            Self::Body => {
                let end = "Authorization: Bearer of-a-stranger\r\nContent-Length: 8000000\r\n";
                let each = (LONGEST_HEAD - 2 - line.len() - end.len()) / HEADERS;
                let header = |number| format!("X-{number:02}: {}\r\n", "a".repeat(each - 8));
                let headers = (0..HEADERS).map(header);
                let head = line + &headers.collect::<String>() + end;
                (head.into_bytes(), b"\r\n{")
            }
        }
    }
}

/// With the three others there are 100, as many as hyper lets in.
const HEADERS: usize = 97;

/// The memory that the server takes beyond what it had, in bytes.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) peak: u64,
    /// When the strangers are gone.
    pub(crate) kept: u64,
}

/// All at once connect, send their part and wait until the server closes the connection.
pub(crate) fn hold(server: &ServerProcess, count: usize, part: Part) -> Taken {
    let (before, peak_before) = (server.memory(), server.peak_memory());
    let runtime = Runtime::new().expect("there are threads");
    let (bytes, all) = (Arc::new(part.bytes()), Arc::new(Barrier::new(count + 1)));
    let mut strangers = JoinSet::new();
    for _ in 0..count {
        let stranger = send(server.address, Arc::clone(&bytes), Arc::clone(&all));
        strangers.spawn_on(stranger, runtime.handle());
    }
    // They have sent the first part, and the server has read it.
    runtime.block_on(all.wait());
    settled(|| server.peak_memory());
    runtime.block_on(all.wait());
    let peak = settled(|| server.peak_memory());
    drop((strangers, runtime));
    let kept = settled(|| server.memory()).saturating_sub(before);
    Taken { peak: peak - peak_before, kept }
}

async fn send(address: SocketAddr, bytes: Arc<(Vec<u8>, &[u8])>, all: Arc<Barrier>) {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    // A server that refuses it does not read it to its end.
    _ = stream.write_all(&bytes.0).await;
    all.wait().await;
    all.wait().await;
    _ = stream.write_all(bytes.1).await;
    while stream.read(&mut [0; 512]).await.is_ok_and(|read| read > 0) {}
}

/// What is measured, once it has not changed for a second: what was sent may wait in the system's buffers.
fn settled(measure: impl Fn() -> u64) -> u64 {
    let mut last = measure();
    let mut unchanged = 0;
    while unchanged < 10 {
        thread::sleep(Duration::from_millis(100));
        let now = measure();
        unchanged = if now == last { unchanged + 1 } else { 0 };
        last = now;
    }
    last
}
