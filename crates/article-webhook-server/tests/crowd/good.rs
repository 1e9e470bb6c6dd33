//! Good deliveries, each on a connection of its own.

use std::{
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use article_webhook_axum::fixture::DeliveryRequest;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

/// The bytes of a delivery of about 16 KiB.
pub(crate) fn delivery() -> Vec<u8> {
    request(&DeliveryRequest::article(1, 16 << 10))
}

/// The bytes of a request on a connection of its own.
pub(crate) fn request(post: &DeliveryRequest) -> Vec<u8> {
    let mut request = b"POST / HTTP/1.1\r\nHost: receiver.test\r\nConnection: close\r\n".to_vec();
    for (name, value) in post.headers() {
        request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    [&request, &b"\r\n"[..], post.body()].concat()
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
    let delivered = timeout(Duration::from_secs(10), delivered).await;
    delivered.expect("an answer comes").expect("the connection holds");
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    start.elapsed()
}

/// Delivers at a steady rate, even if the responses are slower. Returns the times, shortest first.
pub(crate) async fn deliver_steadily(
    address: SocketAddr,
    per_second: u32,
    within: Duration,
) -> Vec<Duration> {
    let start = Instant::now();
    let mut clock = interval(Duration::from_secs(1) / per_second);
    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut deliveries = JoinSet::new();
    while start.elapsed() < within {
        clock.tick().await;
        deliveries.spawn(async move { deliver(address, &delivery()).await });
    }
    let mut times = deliveries.join_all().await;
    times.sort();
    times
}
