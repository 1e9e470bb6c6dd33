//! The service: it delivers over a socket until it is acknowledged.

use std::{io, net::SocketAddr};

use crate::service::{Line, Parcel};

/// A connection to a node, which stays open.
#[derive(Default)]
pub(crate) struct Sender {
    open: Option<(SocketAddr, Line)>,
}

impl Sender {
    /// Whether the node acknowledges the delivery.
    pub(crate) fn deliver(&mut self, to: SocketAddr, parcel: &Parcel) -> bool {
        let status = self.attempt(to, parcel);
        if status.is_err() {
            self.open = None;
        }
        status.is_ok_and(|status| (200..300).contains(&status))
    }

    fn attempt(&mut self, to: SocketAddr, parcel: &Parcel) -> io::Result<u16> {
        let line = match self.open.take() {
            Some((address, line)) if address == to => line,
            _ => Line::open(to)?,
        };
        let (_, line) = self.open.insert((to, line));
        line.deliver(parcel)
    }
}
