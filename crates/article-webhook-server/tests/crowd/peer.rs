//! One sender of the crowd.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Silent,
    /// Half a head, and then one more byte per second.
    HalfHead,
    /// A good head with the token, and then one byte of the body per second.
    SlowBody,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Silent, Self::HalfHead, Self::SlowBody];

    fn bytes_to_send_at_once(self, delivery: &[u8]) -> usize {
        match self {
            Self::Silent => 0,
            Self::HalfHead => 60,
            Self::SlowBody => delivery.len() / 2,
        }
    }
}

/// Stays until the server closes the connection, and returns the time since its start, or `None` if it is still open
/// after `limit`.
pub(crate) async fn stay(
    kind: Kind,
    address: SocketAddr,
    delivery: &[u8],
    limit: Duration,
) -> Option<Duration> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let (mut reads, mut writes) = stream.split();
    let mut sent = kind.bytes_to_send_at_once(delivery);
    writes.write_all(&delivery[..sent]).await.ok()?;
    let trickle = async {
        if let Kind::Silent = kind {
            std::future::pending::<()>().await;
        }
        loop {
            sleep(Duration::from_secs(1)).await;
            sent += 1;
            if writes.write_all(&delivery[sent - 1..sent]).await.is_err() {
                // The reading side reports the end.
                std::future::pending::<()>().await;
            }
        }
    };
    let to_the_end = async {
        // A response may come first: 408. A reset is an end too.
        while reads.read(&mut [0; 512]).await.is_ok_and(|read| read > 0) {}
    };
    let ended = async {
        tokio::select! {
            () = trickle => {}
            () = to_the_end => {}
        }
    };
    timeout(limit, ended).await.ok().map(|()| start.elapsed())
}
