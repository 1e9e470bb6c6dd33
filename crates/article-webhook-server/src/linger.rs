use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    net::TcpStream,
    time::timeout,
};

/// Ends a connection whose sender may still be sending. A socket that is closed over unread bytes
/// sends a reset, and a reset destroys the answer before it is read; so the rest is dropped for a
/// moment, or until the sender has closed its side.
pub(crate) async fn linger(mut stream: TcpStream) {
    let parting = async {
        stream.shutdown().await?;
        copy(&mut stream.take(MOST), &mut sink()).await
    };
    // Whatever comes of it, the connection is over.
    _ = timeout(WITHIN, parting).await;
}

const WITHIN: Duration = Duration::from_millis(500);
/// In bytes: reading on costs processor time, and the answer has been sent.
const MOST: u64 = 1 << 20;
