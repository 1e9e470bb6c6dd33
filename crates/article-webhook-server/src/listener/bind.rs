use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};

/// How many connections the system queues until they are accepted, if it allows as many. With a full backlog the
/// first packet of a sender is lost, and repeated a second later.
const BACKLOG: u32 = 4096;

/// Listens on the first address that can be bound.
pub(crate) async fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "expected an address, found none");
    for address in lookup_host(address).await? {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this option would allow another process to take the port over.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn port_0_is_a_free_port_and_a_port_in_use_is_an_error() -> io::Result<()> {
        let listener = bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        assert_ne!(address.port(), 0);
        let error = bind(address).await.map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        Ok(())
    }
}
