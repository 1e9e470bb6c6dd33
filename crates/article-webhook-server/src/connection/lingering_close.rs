use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    net::TcpStream,
    time::timeout,
};

/// Closes a connection whose peer may still be sending. A socket that is closed with unread bytes sends a reset,
/// and after a reset the peer may lose the response. To prevent that, the rest is read and dropped for a limited
/// time, or until the peer has closed its side.
pub(super) async fn lingering_close(mut stream: TcpStream) {
    let drain = async {
        stream.shutdown().await?;
        copy(&mut stream.take(MAX_BYTES), &mut sink()).await
    };
    // The connection is over, with or without an error.
    _ = timeout(TIMEOUT, drain).await;
}

const TIMEOUT: Duration = Duration::from_millis(500);
/// Reading costs processor time, and the response has been sent.
const MAX_BYTES: u64 = 1 << 20;
