use std::{error::Error, io, net::SocketAddr, pin::pin, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use tokio::{
    net::{TcpListener, ToSocketAddrs},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tower_service::Service;

use crate::{
    ServerBody,
    listener::{Acceptor, bind},
    settings::Settings,
};

/// An HTTP/1 server for one tower service. Slow, silent or numerous senders cannot block it.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_server::Server;
/// use axum::{Router, routing::get};
/// use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let app: Router = Router::new().route("/", get(|| async { "welcome" }));
/// let head_deadline = Duration::from_millis(200);
/// let server = Server::builder().head_deadline(head_deadline).bind("127.0.0.1:0").await?;
/// let address = server.local_addr()?;
/// tokio::spawn(server.serve(app, std::future::pending()));
///
/// // A request is answered.
/// let (mut sender, mut answer) = (TcpStream::connect(address).await?, String::new());
/// sender.write_all(b"GET / HTTP/1.1\r\nHost: receiver.test\r\nConnection: close\r\n\r\n").await?;
/// sender.read_to_string(&mut answer).await?;
/// assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("welcome"));
///
/// // A silent connection is closed.
/// let mut silent = TcpStream::connect(address).await?;
/// assert_eq!(silent.read(&mut [0]).await?, 0);
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc = ""]
#[doc = include_str!("limits.md")]
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    settings: Settings,
}

impl Server {
    /// Settings for a server.
    pub fn builder() -> ServerBuilder {
        ServerBuilder { settings: Settings::default() }
    }

    /// A server with default settings on an address of this machine. Port 0 is a free port.
    ///
    /// # Errors
    ///
    /// The address is in use, is not an address of this machine, or needs more rights.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::builder().bind(address).await
    }

    /// A server with default settings on a listening socket.
    #[must_use]
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, settings: Settings::default() }
    }

    /// The address of the listening socket.
    ///
    /// # Errors
    ///
    /// The system does not know the address of the socket.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown` resolves, and for [`shutdown_delay`](ServerBuilder::shutdown_delay) more. Then it accepts no more
    /// connections, closes idle connections, and finishes
    /// requests in progress. At the end of the grace period, or when the future is dropped, it closes all connections.
    ///
    /// When the service fails or panics, the server answers a constant 500, and the next request gets a new clone of
    /// the service.
    ///
    /// # Errors
    ///
    /// None at present: errors of `accept` are retried. A later version may report a listener that cannot recover.
    pub async fn serve<S, B>(self, service: S, shutdown: impl Future<Output = ()>) -> io::Result<()>
    where
        S: Service<Request<ServerBody>, Response = Response<B>, Future: Send>
            + Clone
            + Send
            + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>
            + Send
            + 'static,
    {
        let Self { listener, settings } = self;
        let (begin_shutdown, shutdown_begun) = watch::channel(false);
        let mut acceptor = Acceptor::new(listener, service, settings, shutdown_begun);
        // Dropping this set closes every connection.
        let mut tasks = JoinSet::new();
        {
            let activities = acceptor.activities();
            let shutdown = pin!(async {
                shutdown.await;
                activities.set_stopping();
                sleep(settings.shutdown_delay).await;
            });
            tokio::select! {
                never = acceptor.run(&mut tasks) => match never {},
                () = shutdown => {}
            }
        }
        drop(acceptor);
        begin_shutdown.send_replace(true);
        let all_ended = async { while tasks.join_next().await.is_some() {} };
        _ = timeout(settings.shutdown_grace, all_ended).await;
        Ok(())
    }
}

/// Settings of a [`Server`]. [`bind`](Self::bind) and [`build`](Self::build) refuse settings with which no server
/// can work.
///
/// ```
/// use std::{io::ErrorKind, time::Duration};
/// use article_webhook_server::Server;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = Server::builder()
///     .head_deadline(Duration::from_secs(2))
///     .idle_deadline(Duration::from_secs(620)) // over the 600 s of the load balancer in front
///     .max_connections(500)
///     .bind("127.0.0.1:0")
///     .await?;
/// assert_ne!(server.local_addr()?.port(), 0);
///
/// let error = Server::builder().max_connections(0).bind("127.0.0.1:0").await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidInput);
/// assert_eq!(error.to_string(), "max_connections must be at least 1");
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ServerBuilder {
    settings: Settings,
}

impl ServerBuilder {
    /// How long a head may take: 3 seconds unless set. The time begins with the connection. After the first good
    /// response it begins with a head's first byte, and before that with the end of the previous exchange. Bytes that
    /// arrive do not extend it. Then the connection is closed. A peer that was refused has as long to read its answer and
    /// to stop sending.
    pub fn head_deadline(mut self, deadline: Duration) -> Self {
        self.settings.head_deadline = deadline;
        self
    }

    /// How long a connection may be idle before the next request, once one of its requests was answered with a 2xx: 75
    /// seconds unless set. It must be longer than the proxy in front keeps its idle connections: of a connection that
    /// both use, the proxy may send a delivery at the moment at which the server closes it. A full server waits for
    /// [`head_deadline`](Self::head_deadline) at most.
    pub fn idle_deadline(mut self, deadline: Duration) -> Self {
        self.settings.idle_deadline = deadline;
        self
    }

    /// The maximum number of open connections: 4096 unless set. Further ones wait, unaccepted, until another ends.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.settings.max_connections = connections;
        self
    }

    /// How long the server goes on accepting and serving after the shutdown began: no longer unless set. Meanwhile it answers
    /// 503 itself to each request for `ready_path`, the path of the application's health check, so that the load balancer in
    /// front sends no more. Set it to what the load balancer needs for that. [`shutdown_grace`](Self::shutdown_grace) comes after
    /// it, and the service manager must wait for both.
    pub fn shutdown_delay(mut self, delay: Duration, ready_path: &'static str) -> Self {
        self.settings.shutdown_delay = delay;
        self.settings.ready_path = ready_path;
        self
    }

    /// How long requests in progress may take once no connection is accepted any more: 25 seconds unless set.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.settings.shutdown_grace = grace;
        self
    }

    /// The server, on an address of this machine. Port 0 is a free port.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build) and [`Server::bind`].
    pub async fn bind(self, address: impl ToSocketAddrs) -> io::Result<Server> {
        let settings = self.settings.validated()?;
        Ok(Server { listener: bind(address, &settings).await?, settings })
    }

    /// The server, on a listening socket.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput): a deadline for heads or idle connections of zero or of more than
    /// 365 days, or a maximum of no connections.
    pub fn build(self, listener: TcpListener) -> io::Result<Server> {
        let settings = self.settings.validated()?;
        Ok(Server { listener, settings })
    }
}
