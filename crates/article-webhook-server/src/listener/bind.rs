use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};

use crate::settings::Settings;

/// Listens on the first address that can be bound.
pub(crate) async fn bind(
    address: impl ToSocketAddrs,
    settings: &Settings,
) -> io::Result<TcpListener> {
    let backlog = backlog(settings.max_connections);
    let mut last =
        io::Error::new(io::ErrorKind::InvalidInput, "the address to listen on has no IP address");
    for address in lookup_host(address).await? {
        match listen(address, backlog) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// How many connections the system queues until they are accepted, if it allows as many. With a full backlog the
/// first packet of a sender is lost, and repeated a second later. With a backlog that is longer than the server has
/// room, all senders of a flood would wait for longer than their timeouts.
fn backlog(max_connections: usize) -> u32 {
    u32::try_from(max_connections).unwrap_or(u32::MAX).clamp(128, 4096)
}

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this option would allow another process to take the port over.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}
