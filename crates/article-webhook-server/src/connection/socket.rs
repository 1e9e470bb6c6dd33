use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use crate::slot::ConnectionSlot;

/// The socket of a connection. It reports to the slot that the peer sends, and whether it reads what is written.
pub(super) struct Socket {
    stream: TcpStream,
    slot: Arc<ConnectionSlot>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, slot: Arc<ConnectionSlot>) -> Self {
        // Responses are short: waiting for more bytes would only delay them.
        _ = stream.set_nodelay(true);
        Self { stream, slot }
    }

    pub(super) fn into_stream(self) -> TcpStream {
        self.stream
    }

    fn report(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            self.slot.write_stalled();
        } else {
            self.slot.write_resumed();
        }
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.slot.bytes_received();
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.report(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.report(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper calls this when it has nothing more to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.slot.flushed();
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::{settings::Settings, slot::Activities};

    #[tokio::test]
    async fn a_response_is_sent_without_delay() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let stream = TcpStream::connect(listener.local_addr()?).await?;
        assert!(!stream.nodelay()?);
        let slot = ConnectionSlot::take(&Activities::new(), Settings::default());
        assert!(Socket::new(stream, slot).into_stream().nodelay()?);
        Ok(())
    }
}
