use std::{
    future::{Ready, ready},
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};

use crate::fault::CLEARTEXT_PASSWORD;

/// Makes connections without TLS. To another machine, the settings of the driver say that TLS begins at once, and the driver gets a
/// [`Plaintext`].
#[derive(Clone)]
pub(super) struct WithoutTls {
    pub(super) password: Option<Vec<u8>>,
}

/// A connection that is not encrypted, and never sends the password as it is: anyone who can read the network, or who answers in
/// place of the server, would have it.
pub(super) struct Plaintext {
    socket: Socket,
    password: Option<Vec<u8>>,
}

impl MakeTlsConnect<Socket> for WithoutTls {
    type Stream = Plaintext;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _: &str) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl TlsConnect<Socket> for WithoutTls {
    type Stream = Plaintext;
    type Error = io::Error;
    type Future = Ready<io::Result<Plaintext>>;

    fn connect(self, socket: Socket) -> Self::Future {
        ready(Ok(Plaintext { socket, password: self.password }))
    }
}

impl TlsStream for Plaintext {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// Whether this is the message with which a client answers `AuthenticationCleartextPassword`: `p`, the length in four bytes, the
/// password, and a zero. The driver writes a message at once.
fn is_cleartext(message: &[u8], password: &[u8]) -> bool {
    message.first() == Some(&b'p')
        && message.get(5..).and_then(|rest| rest.strip_suffix(&[0])) == Some(password)
}

impl AsyncWrite for Plaintext {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.password.as_ref().is_some_and(|password| is_cleartext(bytes, password)) {
            return Poll::Ready(Err(io::Error::other(CLEARTEXT_PASSWORD)));
        }
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl AsyncRead for Plaintext {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, buffer)
    }
}
