//! A receiver that can be broken.

use std::{io, net::SocketAddr, time::Duration};

use article_webhook::{AuthToken, Delivery, Receiver, Reply, Sink};
use article_webhook_inbox::Inbox;
use article_webhook_server::Server;
use article_webhook_tower::receive;
use serde::Serialize;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

/// How long requests may go on when the receiver is switched off.
const GRACE: Duration = Duration::from_secs(1);

/// How long the port may be missing when the receiver is switched on again.
const TIMEOUT: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Condition {
    Works,
    /// The receiver answers 503.
    CannotStore,
    /// Nothing listens on its port.
    Off,
}

pub(super) async fn bind(address: SocketAddr) -> io::Result<Server> {
    Server::builder().shutdown_grace(GRACE).bind(address).await
}

/// Receives in the condition that is set, until `stop` is true.
pub(super) async fn run(
    server: Server,
    token: AuthToken,
    inbox: Inbox,
    mut condition: watch::Receiver<Condition>,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let address = server.local_addr()?;
    let sink = {
        let condition = condition.clone();
        move |delivery: Delivery| {
            let (inbox, condition) = (inbox.clone(), *condition.borrow());
            async move {
                match condition {
                    Condition::CannotStore => Reply::Unavailable,
                    Condition::Works | Condition::Off => inbox.accept(delivery).await,
                }
            }
        }
    };
    let service = receive(Receiver::new(token), sink);
    let mut first = Some(server);
    while !*stop.borrow_and_update() {
        let server = match first.take() {
            Some(server) => server,
            None => {
                tokio::select! {
                    _ = stop.changed() => return Ok(()),
                    _ = condition.wait_for(|condition| *condition != Condition::Off) => {}
                }
                bind_again(address).await?
            }
        };
        let ends = async {
            tokio::select! {
                _ = stop.changed() => {}
                _ = condition.wait_for(|condition| *condition == Condition::Off) => {}
            }
        };
        server.serve(service.clone(), ends).await?;
    }
    Ok(())
}

/// The service has this address, so the receiver needs the same one again.
async fn bind_again(address: SocketAddr) -> io::Result<Server> {
    let bound = timeout(TIMEOUT, async {
        while bind(address).await.is_err() {
            sleep(BETWEEN_TRIES).await;
        }
    });
    let _ = bound.await;
    bind(address).await
}
