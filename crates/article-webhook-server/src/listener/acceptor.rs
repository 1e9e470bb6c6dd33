use std::{
    convert::Infallible,
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

use super::accept_error::AcceptError;
use crate::{
    body::Budget,
    connection,
    exchange::{Dispatcher, HttpService},
    settings::Settings,
    slot::{ConnectionSlot, Connections},
};

/// Accepts connections, and evicts others when there are too many.
pub(crate) struct Acceptor<S> {
    pub(crate) listener: TcpListener,
    pub(crate) service: S,
    pub(crate) settings: Settings,
    pub(crate) connections: Arc<Connections>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) shutdown: watch::Receiver<bool>,
}

/// The pause before the next attempt when there is no room, or the system refuses.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// How long a new connection is safe from eviction while its head arrives: a round trip or two.
const HEAD_GRACE: Duration = Duration::from_millis(250);

impl<S: HttpService> Acceptor<S> {
    /// Accepts connections without end, and runs each as one of `tasks`. No error of the listener ends it.
    pub(crate) async fn run(&mut self, tasks: &mut JoinSet<()>) -> Infallible {
        loop {
            let accepted = self.listener.accept().await;
            // Removes tasks that have ended. Waking up for each of them would cost more than it frees.
            while tasks.try_join_next().is_some() {}
            match accepted.map_err(AcceptError::from) {
                Ok((stream, _)) => {
                    // A connection is evicted only when another one waits for its slot.
                    while tasks.len() >= self.settings.max_connections {
                        self.make_room(tasks).await;
                    }
                    self.start(stream, tasks);
                }
                Err(AcceptError::Closed) => {}
                Err(AcceptError::NoDescriptor) => self.make_room(tasks).await,
                Err(AcceptError::Other) => sleep(RETRY_PAUSE).await,
            }
        }
    }

    fn start(&mut self, stream: TcpStream, tasks: &mut JoinSet<()>) {
        let (slot, evicted) = ConnectionSlot::take(&self.connections, self.settings);
        // A panic of the service must not end the server: the connection is closed.
        let Ok(service) = catch_unwind(AssertUnwindSafe(|| self.service.clone())) else {
            slot.release();
            return;
        };
        let (budget, settings) = (self.budget.clone(), self.settings);
        let dispatcher = Dispatcher { service, slot, budget, settings };
        tasks.spawn(connection::serve(stream, dispatcher, evicted, self.shutdown.clone()));
    }

    /// Evicts the first connection that may be evicted, and waits until any connection has ended. The wait is
    /// short, because another connection may become evictable meanwhile.
    async fn make_room(&mut self, tasks: &mut JoinSet<()>) {
        if let Some(head_cutoff) = Instant::now().checked_sub(HEAD_GRACE) {
            self.connections.evict_one(head_cutoff);
        }
        if tasks.is_empty() {
            sleep(RETRY_PAUSE).await;
        } else {
            _ = timeout(RETRY_PAUSE, tasks.join_next()).await;
        }
    }
}
