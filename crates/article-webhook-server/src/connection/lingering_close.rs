use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

/// Closes a connection whose peer may still be sending. A socket that is closed with unread bytes sends a reset,
/// and after a reset the peer may lose the response. A proxy reports that as 502. To prevent that, the rest is read
/// and dropped until the peer has closed its side or sends no more, and until the deadline at most.
pub(super) async fn lingering_close(mut stream: TcpStream, deadline: Instant) {
    let drain = async {
        stream.shutdown().await?;
        let (mut buffer, mut left) = (vec![0; 8 << 10], MAX_BYTES);
        while left > 0 {
            match timeout(IDLE, stream.read(&mut buffer)).await {
                Ok(Ok(read)) if read > 0 => left = left.saturating_sub(read),
                _ => break,
            }
        }
        Ok::<_, std::io::Error>(())
    };
    // The connection is over, with or without an error.
    _ = timeout_at(deadline, drain).await;
}

/// How long a peer may pause. A sender that has the response closes the connection or goes on sending.
const IDLE: Duration = Duration::from_millis(500);
/// Twice the default limit of a receiver for one body. Reading costs processor time.
const MAX_BYTES: usize = 16 << 20;
