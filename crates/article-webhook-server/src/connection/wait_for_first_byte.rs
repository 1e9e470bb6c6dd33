use tokio::{net::TcpStream, sync::watch, time::sleep_until};

use crate::slot::ConnectionSlot;

/// Waits for the first byte of a connection. Returns `false` if it does not come.
///
/// hyper allocates 16 KiB of buffers when it starts, and most connections of an attack never send a byte.
pub(super) async fn wait_for_first_byte(
    stream: &TcpStream,
    slot: &ConnectionSlot,
    shutdown: &mut watch::Receiver<bool>,
) -> bool {
    let Some(deadline) = slot.deadline() else {
        return true;
    };
    let mut first = [0];
    tokio::select! {
        biased;
        peeked = stream.peek(&mut first) => peeked.is_ok_and(|bytes| bytes > 0),
        () = sleep_until(deadline) => false,
        _ = shutdown.wait_for(|begun| *begun) => false,
    }
}
