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

use super::{accept_error::AcceptError, shortage::Shortage};
use crate::{
    connection,
    exchange::{Dispatcher, HttpService},
    log::{self, Missing},
    settings::Settings,
    slot::{Activities, ConnectionSlot},
};

/// Accepts connections while there is room. Others wait in the backlog: no connection is closed for another.
pub(crate) struct Acceptor<S> {
    listener: TcpListener,
    service: S,
    settings: Settings,
    shutdown: watch::Receiver<bool>,
    activities: Arc<Activities>,
    shortage: Shortage,
}

/// The pause before the next attempt when there is no room, or the system refuses.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

impl<S: HttpService> Acceptor<S> {
    pub(crate) fn new(
        listener: TcpListener,
        service: S,
        settings: Settings,
        shutdown: watch::Receiver<bool>,
    ) -> Self {
        let (activities, shortage) = (Activities::new(), Shortage::default());
        Self { listener, service, settings, shutdown, activities, shortage }
    }

    pub(crate) fn activities(&self) -> Arc<Activities> {
        self.activities.clone()
    }

    /// Accepts connections without end, and runs each as one of `tasks`. No error of the listener ends it.
    pub(crate) async fn run(&mut self, tasks: &mut JoinSet<()>) -> Infallible {
        loop {
            while tasks.len() >= self.settings.max_connections {
                self.wait_for_room(tasks, Missing::Slot).await;
            }
            let accepted = self.listener.accept().await;
            // Removes tasks that have ended. Waking up for each of them would cost more than it frees.
            while tasks.try_join_next().is_some() {}
            match accepted.map_err(AcceptError::from) {
                Ok((stream, _)) => self.start(stream, tasks),
                Err(AcceptError::Closed) => {}
                Err(AcceptError::NoDescriptor) => {
                    self.wait_for_room(tasks, Missing::Descriptor).await;
                }
                Err(AcceptError::Other) => sleep(RETRY_PAUSE).await,
            }
        }
    }

    fn start(&mut self, stream: TcpStream, tasks: &mut JoinSet<()>) {
        // A panic of the service must not end the server: the connection is closed.
        let Ok(service) = catch_unwind(AssertUnwindSafe(|| self.service.clone())) else {
            return;
        };
        let slot = ConnectionSlot::take(&self.activities, self.settings);
        let dispatcher = Dispatcher { service, slot };
        tasks.spawn(connection::serve(stream, dispatcher, self.shutdown.clone()));
    }

    /// Waits until a connection has ended, or for a short time. Meanwhile every response closes its connection.
    async fn wait_for_room(&mut self, tasks: &mut JoinSet<()>, missing: Missing) {
        self.activities.set_full();
        if let Some(age) = self.shortage.continues(Instant::now()) {
            log::no_room(missing, age, &self.activities);
        }
        if tasks.is_empty() {
            sleep(RETRY_PAUSE).await;
        } else {
            _ = timeout(RETRY_PAUSE, tasks.join_next()).await;
        }
        self.activities.set_room();
    }
}
