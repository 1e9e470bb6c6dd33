use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::ready,
    time::Duration,
};

use article_webhook_inbox::Error;
use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    select,
    task::AbortHandle,
    time::{Instant, timeout},
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Socket,
    error::{DbError, Severity},
    tls::{MakeTlsConnect, TlsConnect},
};

use super::{hosts::Hosts, server_check, tls::Tls};
use crate::{fault::Fault, settings::PostgresSettings};

/// The interval between two checks of the server of a connection. Its settings and the tables can be changed while connections last.
const SERVER_CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// How long another check of a server may take.
const SERVER_CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection of a pool.
pub(super) struct Session {
    pub(super) client: Client,
    /// How many warnings the server has sent.
    pub(super) notices: Arc<AtomicU64>,
    /// The task that serves it, and holds its socket.
    pub(super) task: AbortHandle,
    /// When its server was checked.
    checked_at: Instant,
}

/// Which servers a connection may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One that is suitable for an inbox that works, whose tables are in this schema.
    Suitable(String),
    /// Any that the settings allow.
    Any,
}

/// Makes connections.
pub(super) struct Connector {
    pub(super) hosts: Arc<Hosts>,
    pub(super) wanted: Wanted,
    pub(super) tls: Tls,
    /// Where the tasks of the connections run. A call may come from a runtime that ends before the store does.
    pub(super) runtime: tokio::runtime::Handle,
}

impl PostgresSettings {
    /// A connection beside those of the inbox, with the TLS and the time-outs of these settings: for a program that looks at
    /// the server. Of several hosts it is the first that answers, unless the settings ask for another. It is there or refused
    /// within ten seconds.
    ///
    /// ```no_run
    /// use article_webhook_postgres::PostgresSettings;
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let settings = PostgresSettings::new("postgresql://blog:secret@db.example/blog?sslmode=verify-full")?;
    ///     let client = settings.client().await?;
    ///     let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
    ///     println!("PostgreSQL {version}");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The certificates that the settings name cannot be used. The server cannot be reached, or refuses the connection.
    pub async fn client(&self) -> Result<Client, Error> {
        let hosts = Arc::new(Hosts::of(&self.config));
        let tls = Tls::new(self, &hosts)?;
        let runtime = tokio::runtime::Handle::current();
        let connector = Connector { hosts, wanted: Wanted::Any, tls, runtime };
        let session = connector.connect(|_| ()).await;
        Ok(session.map_err(|fault| fault.refusal())?.client)
    }
}

impl Connector {
    /// A connection to the first host that gives one. `on_notify` gets the notifications of the server.
    pub(super) async fn connect(
        &self,
        on_notify: impl FnMut(&str) + Send + 'static,
    ) -> Result<Session, Fault> {
        match &self.tls {
            Tls::None(plaintext) => self.connect_by(plaintext.clone(), on_notify).await,
            #[cfg(feature = "tls")]
            Tls::Rustls(tls) => self.connect_by((**tls).clone(), on_notify).await,
        }
    }

    async fn connect_by<T>(
        &self,
        tls: T,
        on_notify: impl FnMut(&str) + Send + 'static,
    ) -> Result<Session, Fault>
    where
        T: MakeTlsConnect<Socket, Stream: Send, TlsConnect: Send> + Clone + Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
        T::Stream: 'static,
    {
        let limit = self.hosts.limit_of_each();
        let mut refused = Fault::Ours(Error::unavailable("the settings name no host"));
        for host in self.hosts.in_order() {
            let reached = timeout(limit, self.reach(host, limit, tls.clone())).await;
            match reached.unwrap_or_else(|_| Err(silent(limit))) {
                Ok((client, connection)) => {
                    self.hosts.connected(host);
                    let notices = Arc::new(AtomicU64::new(0));
                    let task = self.runtime.spawn(run(connection, Arc::clone(&notices), on_notify));
                    let (task, checked_at) = (task.abort_handle(), Instant::now());
                    return Ok(Session { client, notices, task, checked_at });
                }
                Err(fault) if fault.weight() >= refused.weight() => refused = fault,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    /// A connection to the first address of a host that gives one.
    async fn reach<T>(
        &self,
        host: usize,
        limit: Duration,
        tls: T,
    ) -> Result<(Client, Connection<Socket, T::Stream>), Fault>
    where
        T: MakeTlsConnect<Socket, Stream: Send, TlsConnect: Send> + Clone + Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let addresses = self.hosts.addresses(host).await?;
        let limit = limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut refused = silent(limit);
        for address in addresses {
            let limit = address.get_connect_timeout().map_or(limit, |own| limit.min(*own));
            let reached = timeout(limit, self.reach_address(&address, tls.clone())).await;
            match reached.unwrap_or_else(|_| Err(silent(limit))) {
                Err(fault) if fault.weight() >= refused.weight() => refused = fault,
                Err(_) => {}
                reached => return reached,
            }
        }
        Err(refused)
    }

    async fn reach_address<T>(
        &self,
        address: &Config,
        tls: T,
    ) -> Result<(Client, Connection<Socket, T::Stream>), Fault>
    where
        T: MakeTlsConnect<Socket>,
    {
        let connected = address.connect(tls).await;
        let (client, mut connection) = connected.map_err(Fault::Connecting)?;
        if let Wanted::Suitable(schema) = &self.wanted {
            let mut check = pin!(server_check::check(&client, schema));
            let lost = select! {
                biased;
                checked = &mut check => {
                    checked?;
                    None
                }
                lost = &mut connection => Some(lost),
            };
            if let Some(lost) = lost {
                drop(connection);
                // What was answered before the end is the cause, such as a pooler's that has no server.
                let checked = check.await;
                return match (lost, checked) {
                    (Err(lost), Err(fault)) if fault.weight() == 0 => Err(Fault::Connecting(lost)),
                    (_, checked) => Err(checked.err().unwrap_or(Fault::Vanished)),
                };
            }
        }
        Ok((client, connection))
    }
}

/// The fault of a server that accepts a connection, if anything, and then says nothing.
fn silent(limit: Duration) -> Fault {
    Fault::Ours(Error::unavailable(format!(
        "connecting to PostgreSQL took longer than {} seconds: check the host and the port of the URL, and whether a \
         firewall drops what is sent there",
        limit.as_secs()
    )))
}

/// Serves a connection until it ends. Notices and notifications reach this task alone. A notice is counted before the answer
/// that follows it is passed on, so that a call knows of each that came before its answer.
async fn run<S, T>(
    mut connection: Connection<S, T>,
    notices: Arc<AtomicU64>,
    mut on_notify: impl FnMut(&str),
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        while let Some(Ok(message)) = ready!(connection.poll_message(context)) {
            match message {
                AsyncMessage::Notice(notice) if is_warning(&notice) => {
                    notices.fetch_add(1, Ordering::SeqCst);
                }
                AsyncMessage::Notification(notification) => on_notify(notification.payload()),
                _ => {}
            }
        }
        std::task::Poll::Ready(())
    })
    .await;
}

/// Whether a notice is a warning, and none of those that a setting of the role asks for.
fn is_warning(notice: &DbError) -> bool {
    use Severity::{Debug, Info, Log, Notice};
    !matches!(notice.parsed_severity(), Some(Debug | Info | Log | Notice))
}

impl Manager for Connector {
    type Type = Session;
    type Error = Fault;

    async fn create(&self) -> Result<Session, Fault> {
        self.connect(|_| ()).await
    }

    async fn recycle(&self, session: &mut Session, _: &Metrics) -> RecycleResult<Fault> {
        if session.client.is_closed() {
            return Err(RecycleError::message("the connection is closed"));
        }
        let Wanted::Suitable(schema) = &self.wanted else { return Ok(()) };
        if session.checked_at.elapsed() > SERVER_CHECK_INTERVAL {
            let checked = server_check::check(&session.client, schema);
            let checked = timeout(SERVER_CHECK_TIMEOUT, checked).await;
            if !matches!(checked, Ok(Ok(()))) {
                session.task.abort();
                return Err(RecycleError::message("the server is no longer suitable"));
            }
            session.checked_at = Instant::now();
        }
        Ok(())
    }
}
