use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::ready,
};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

use super::tls::Tls;

/// A connection of a pool.
pub(super) struct Session {
    pub(super) client: Client,
    /// How many notices and warnings the server has sent.
    pub(super) notices: Arc<AtomicU64>,
}

/// Makes connections.
pub(super) struct Connector {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// Where the tasks of the connections run. A call may come from a runtime that ends before the store does.
    pub(super) runtime: tokio::runtime::Handle,
}

impl Connector {
    pub(super) async fn connect(&self) -> Result<Session, tokio_postgres::Error> {
        let notices = Arc::new(AtomicU64::new(0));
        let client = match &self.tls {
            Tls::None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                self.runtime.spawn(run(connection, Arc::clone(&notices)));
                client
            }
            #[cfg(feature = "tls")]
            Tls::Rustls(connector) => {
                let (client, connection) = self.config.connect((**connector).clone()).await?;
                self.runtime.spawn(run(connection, Arc::clone(&notices)));
                client
            }
        };
        Ok(Session { client, notices })
    }
}

/// Serves a connection until it ends. Notices reach this task alone. A notice is counted before the answer that follows it
/// is passed on, so that a call knows of each that came before its answer.
async fn run<S, T>(mut connection: Connection<S, T>, notices: Arc<AtomicU64>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        while let Some(Ok(message)) = ready!(connection.poll_message(context)) {
            if let AsyncMessage::Notice(_) = message {
                notices.fetch_add(1, Ordering::SeqCst);
            }
        }
        std::task::Poll::Ready(())
    })
    .await;
}

impl deadpool::managed::Manager for Connector {
    type Type = Session;
    type Error = tokio_postgres::Error;

    async fn create(&self) -> Result<Session, tokio_postgres::Error> {
        self.connect().await
    }

    async fn recycle(
        &self,
        session: &mut Session,
        _: &deadpool::managed::Metrics,
    ) -> deadpool::managed::RecycleResult<tokio_postgres::Error> {
        if session.client.is_closed() {
            return Err(deadpool::managed::RecycleError::message("the connection is closed"));
        }
        Ok(())
    }
}
