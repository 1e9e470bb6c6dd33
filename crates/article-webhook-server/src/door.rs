use std::{
    convert::Infallible,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use crate::{
    app::App,
    budget::Budget,
    connection,
    exchange::Exchange,
    limits::Limits,
    seat::{Room, Seat, lock},
};

/// Where connections come in.
pub(crate) struct Door<S> {
    pub(crate) listener: TcpListener,
    pub(crate) service: S,
    pub(crate) limits: Limits,
    pub(crate) room: Arc<Room>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) closing: watch::Receiver<bool>,
}

/// How long nothing is tried while the system, or the room, is full.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a newcomer has for its head before it may have to give way: a round trip or two.
const MOMENT: Duration = Duration::from_millis(250);

impl<S: App> Door<S> {
    /// Lets connections in, for ever: no error of the listener is a reason to stop.
    pub(crate) async fn admit(&mut self, inside: &mut JoinSet<()>) -> Infallible {
        loop {
            let accepted = self.listener.accept().await;
            // Forgets those that have left. Waking up for each of them would cost more than it frees.
            while inside.try_join_next().is_some() {}
            match accepted.map_err(|error| Trouble::of(&error)) {
                Ok((stream, _)) => {
                    // It waits at the door. Asking those inside to leave before anyone knocks would
                    // turn connections away for nobody.
                    while inside.len() >= self.limits.max_connections.max(1) {
                        self.make_room(inside).await;
                    }
                    self.greet(stream, inside);
                }
                Err(Trouble::HungUp) => {}
                Err(Trouble::NoDescriptor) => self.make_room(inside).await,
                Err(Trouble::Other) => sleep(PAUSE).await,
            }
        }
    }

    fn greet(&mut self, stream: TcpStream, inside: &mut JoinSet<()>) {
        let (seat, go) = Seat::take(&self.room, self.limits);
        // A panic of the service's must not end the server: the connection is dropped.
        let Ok(service) = catch_unwind(AssertUnwindSafe(|| self.service.clone())) else {
            return;
        };
        let exchange = Exchange { service, seat, budget: self.budget.clone(), limits: self.limits };
        inside.spawn(connection::serve(stream, exchange, go, self.closing.clone()));
    }

    /// Asks the first that can to give way, and waits until anyone has left, but not for long: those
    /// at work may be done by then, and can give way.
    async fn make_room(&mut self, inside: &mut JoinSet<()>) {
        let lately = Instant::now().checked_sub(MOMENT);
        let asked = lately.and_then(|lately| lock(&self.room).give_way(lately));
        drop(asked);
        if inside.is_empty() {
            sleep(PAUSE).await;
        } else {
            _ = timeout(PAUSE, inside.join_next()).await;
        }
    }
}

/// Why nobody came in.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// The peer is gone again.
    HungUp,
    /// The process or the system has no file descriptor left. The peer still waits.
    NoDescriptor,
    /// Memory, firewall, network: time may help.
    Other,
}

impl Trouble {
    fn of(error: &io::Error) -> Self {
        // The same numbers on every Unix; the standard library has no kind for them.
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset, _) => Self::HungUp,
            (_, Some(ENFILE | EMFILE)) => Self::NoDescriptor,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_error_of_accept_says_what_to_do() {
        use rustix::io::Errno;

        let trouble = |errno: Errno| Trouble::of(&errno.into());
        assert_eq!(trouble(Errno::MFILE), Trouble::NoDescriptor);
        assert_eq!(trouble(Errno::NFILE), Trouble::NoDescriptor);
        assert_eq!(trouble(Errno::CONNABORTED), Trouble::HungUp);
        assert_eq!(trouble(Errno::NOBUFS), Trouble::Other);
        assert_eq!(trouble(Errno::PERM), Trouble::Other);
    }
}
