//! Good deliveries, each on a connection of its own.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use article_webhook_axum::fixture;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// How long a delivery is waited for. A busy machine is slow, and one that the server has lost never ends.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The bytes of a delivery of about 16 KiB, on a connection of its own.
pub(crate) fn delivery() -> Vec<u8> {
    let post = fixture::generated(1, 16 << 10);
    let mut request = b"POST / HTTP/1.1\r\nHost: receiver.test\r\nConnection: close\r\n".to_vec();
    for (name, value) in post.headers() {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    [&request, &b"\r\n"[..], post.bytes()].concat()
}

/// Delivers, and returns the time from the start of the connection to the last byte of the response.
pub(crate) async fn deliver(address: SocketAddr, delivery: &[u8]) -> Duration {
    let start = Instant::now();
    let mut answer = Vec::new();
    let delivered = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        stream.write_all(delivery).await?;
        stream.read_to_end(&mut answer).await?;
        Ok::<_, io::Error>(())
    };
    let delivered = timeout(TIMEOUT, delivered).await;
    delivered.expect("an answer comes").expect("the connection holds");
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    start.elapsed()
}
