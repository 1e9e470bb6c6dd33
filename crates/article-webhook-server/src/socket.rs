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

use crate::seat::Seat;

/// A connection's socket, which notes whether the peer takes what is written.
pub(crate) struct Socket {
    stream: TcpStream,
    seat: Arc<Seat>,
    is_blocked: bool,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, seat: Arc<Seat>) -> Self {
        // Answers are short: waiting for more to send would only delay them.
        _ = stream.set_nodelay(true);
        Self { stream, seat, is_blocked: false }
    }

    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream
    }

    fn noted(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match (self.is_blocked, written.is_pending()) {
            (false, true) => self.seat.blocked(),
            (true, false) => self.seat.unblocked(),
            _ => {}
        }
        self.is_blocked = written.is_pending();
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.noted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper asks for this when it has nothing more to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.seat.written();
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::net::TcpListener;

    use super::*;
    use crate::{crowd::Crowd, limits::Limits};

    #[tokio::test]
    async fn an_answer_does_not_wait_for_more_to_send() -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let stream = TcpStream::connect(listener.local_addr()?).await?;
        assert!(!stream.nodelay()?);
        let (seat, _go) = Seat::take(&Arc::new(Mutex::new(Crowd::new())), Limits::default());
        assert!(Socket::new(stream, seat).into_stream().nodelay()?);
        Ok(())
    }
}
