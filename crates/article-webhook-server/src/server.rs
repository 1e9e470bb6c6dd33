use std::{
    error::Error,
    io,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use tokio::{
    net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host},
    sync::watch,
    task::JoinSet,
    time::timeout,
};
use tower_service::Service;

use crate::{Body, budget::Budget, crowd::Crowd, door::Door, limits::Limits};

/// An HTTP/1 server for one tower service, that slow, silent and many senders cannot stop.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_server::Server;
/// use axum::{Router, routing::get};
/// use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let server = Server::bind("127.0.0.1:0").await?.head_deadline(Duration::from_millis(200));
/// let address = server.local_addr()?;
/// let app: Router = Router::new().route("/", get(|| async { "welcome" }));
/// # let clients = async {
/// let mut answer = String::new();
/// let mut sender = TcpStream::connect(address).await?;
/// sender.write_all(b"GET / HTTP/1.1\r\nHost: receiver.test\r\n\r\n").await?;
/// sender.read_to_string(&mut answer).await?; // to the end: idle connections are closed
/// assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("welcome"));
///
/// let mut silent = TcpStream::connect(address).await?;
/// assert_eq!(silent.read(&mut [0]).await?, 0); // and so are silent ones
/// # Ok::<(), std::io::Error>(())
/// # };
/// # let done = async { clients.await.expect("the clients are served") };
/// server.serve(app, done).await
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    limits: Limits,
}

impl Server {
    /// A server on an address of this machine. Port 0 finds a free one.
    ///
    /// # Errors
    ///
    /// The address is in use, is not this machine's, or needs more rights.
    ///
    /// ```
    /// # use article_webhook_server::Server;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let server = Server::bind("127.0.0.1:0").await?;
    /// assert!(Server::bind(server.local_addr()?).await.is_err()); // it is taken
    /// # Ok::<(), std::io::Error>(())
    /// # })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let mut failed =
            io::Error::new(io::ErrorKind::InvalidInput, "expected an address, found none");
        for address in lookup_host(address).await? {
            match listen(address) {
                Ok(listener) => return Ok(Self::new(listener)),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// A server on a socket that listens already.
    ///
    /// ```
    /// # use article_webhook_server::Server;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// let address = listener.local_addr()?;
    /// assert_eq!(Server::new(listener).local_addr()?, address);
    /// # Ok::<(), std::io::Error>(())
    /// # })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn new(listener: TcpListener) -> Self {
        Self { listener, limits: Limits::default() }
    }

    /// The address that it listens on.
    ///
    /// # Errors
    ///
    /// The socket is closed.
    ///
    /// ```
    /// # use article_webhook_server::Server;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// assert_ne!(Server::bind("127.0.0.1:0").await?.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// # })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// How long a head may take, from the connection's start or the end of the previous exchange:
    /// 5 seconds unless set. Bytes that trickle in do not extend it. After it the connection is closed.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use article_webhook_server::Server;
    /// # async fn set() -> std::io::Result<Server> {
    /// let server = Server::bind("127.0.0.1:3000").await?.head_deadline(Duration::from_secs(2));
    /// # Ok(server) }
    /// ```
    #[must_use]
    pub fn head_deadline(mut self, deadline: Duration) -> Self {
        self.limits.head_deadline = deadline.min(Limits::LONGEST);
        self
    }

    /// How long a body may take from the end of its head: 10 seconds unless set. After it the [`Body`]
    /// ends with an error of kind [`TimedOut`](io::ErrorKind::TimedOut).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use article_webhook_server::Server;
    /// # async fn set() -> std::io::Result<Server> {
    /// let server = Server::bind("127.0.0.1:3000").await?.body_deadline(Duration::from_secs(30));
    /// # Ok(server) }
    /// ```
    #[must_use]
    pub fn body_deadline(mut self, deadline: Duration) -> Self {
        self.limits.body_deadline = deadline.min(Limits::LONGEST);
        self
    }

    /// How many connections may be open at once: 4096 unless set, and at least one. For one more,
    /// whoever has waited longest without a complete head gives way, then the longest unfinished body.
    ///
    /// ```
    /// # use article_webhook_server::Server;
    /// # async fn set() -> std::io::Result<Server> {
    /// let server = Server::bind("127.0.0.1:3000").await?.max_connections(500);
    /// # Ok(server) }
    /// ```
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.limits.max_connections = connections;
        self
    }

    /// How many bytes of bodies may be in the hands of the service, for all connections together:
    /// 64 MiB unless set. A body for which there is no room ends with an error of kind
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory), so it should be several times the receiver's limit
    /// for one body.
    ///
    /// ```
    /// # use article_webhook_server::Server;
    /// # async fn set() -> std::io::Result<Server> {
    /// let server = Server::bind("127.0.0.1:3000").await?.body_budget(256 << 20);
    /// # Ok(server) }
    /// ```
    #[must_use]
    pub fn body_budget(mut self, bytes: usize) -> Self {
        self.limits.body_budget = bytes;
        self
    }

    /// How long requests in progress may take after the shutdown began: 25 seconds unless set.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use article_webhook_server::Server;
    /// # async fn set() -> std::io::Result<Server> {
    /// let server = Server::bind("127.0.0.1:3000").await?.shutdown_grace(Duration::from_secs(5));
    /// # Ok(server) }
    /// ```
    #[must_use]
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.limits.shutdown_grace = grace;
        self
    }

    /// Serves until `shutdown` resolves. Then nobody is let in any more, idle connections are closed,
    /// and requests in progress are finished, or cut when the grace is over. Dropping the future cuts
    /// them at once.
    ///
    /// A service that fails or panics is answered for with a constant 500, and the next request gets a
    /// clone of its own.
    ///
    /// # Errors
    ///
    /// None yet: what `accept` complains of is waited for. Said so that a listener that cannot recover
    /// can be told of.
    ///
    /// ```
    /// use std::future::pending;
    /// use article_webhook_server::Server;
    ///
    /// # async fn main_of_an_application() -> std::io::Result<()> {
    /// let app: axum::Router = axum::Router::new();
    /// Server::bind("127.0.0.1:3000").await?.serve(app, pending()).await // until the process ends
    /// # }
    /// ```
    pub async fn serve<S, B>(self, service: S, shutdown: impl Future<Output = ()>) -> io::Result<()>
    where
        S: Service<Request<Body>, Response = Response<B>, Future: Send> + Clone + Send + 'static,
        B: http_body::Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>
            + Send
            + 'static,
    {
        let Self { listener, limits } = self;
        let (close, closing) = watch::channel(false);
        let room = Arc::new(Mutex::new(Crowd::new()));
        let budget = Budget::new(limits.body_budget);
        let mut door = Door { listener, service, limits, room, budget, closing };
        // Every connection ends with this set, at the latest.
        let mut inside = JoinSet::new();
        {
            let mut shutdown = pin!(shutdown);
            tokio::select! {
                never = door.admit(&mut inside) => match never {},
                () = &mut shutdown => {}
            }
        }
        drop(door);
        close.send_replace(true);
        let emptied = async { while inside.join_next().await.is_some() {} };
        _ = timeout(limits.shutdown_grace, emptied).await;
        Ok(())
    }
}

/// How many connections the system keeps until they are accepted, if it may keep so many. In a full
/// backlog a good sender's attempt is lost, and repeated a second later.
const BACKLOG: u32 = 4096;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let another process take the port over.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
