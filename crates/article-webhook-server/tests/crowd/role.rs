//! Which server a process is.

use std::{env, future::pending, process, thread};

use article_webhook_axum::{Reply, article_webhook::Delivery, fixture, receive};
use article_webhook_server::Server;
use axum::{Router, routing::any};
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::net::TcpListener;

#[derive(Clone, Copy)]
pub(crate) enum Role {
    /// This server with default settings.
    Ours,
    /// This server with almost no file descriptors.
    Starved,
    /// `axum::serve`.
    Axum,
}

impl Role {
    /// How many files a starved process may open: a runtime and a listener need about ten.
    pub(crate) const DESCRIPTORS: u64 = 40;

    const ALL: [Self; 3] = [Self::Ours, Self::Starved, Self::Axum];

    pub(crate) fn arg(self) -> &'static str {
        match self {
            Self::Ours => "--serve=ours",
            Self::Starved => "--serve=starved",
            Self::Axum => "--serve=axum",
        }
    }

    pub(crate) fn from_args() -> Option<Self> {
        let arg = env::args().nth(1)?;
        Self::ALL.into_iter().find(|role| role.arg() == arg)
    }

    /// Serves on a free port of the loopback, which it prints, until standard input ends. So no server outlives the
    /// test.
    pub(crate) fn serve(self) {
        if let Self::Starved = self {
            let limit = Some(Self::DESCRIPTORS);
            let limit = Rlimit { current: limit, maximum: limit };
            setrlimit(Resource::Nofile, limit).expect("a limit may be lowered");
        }
        thread::spawn(|| {
            _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            process::exit(0);
        });
        let sink = async |_: Delivery| Reply::Stored;
        let app = Router::new().route("/", any(receive(fixture::receiver(), sink)));
        let runtime = tokio::runtime::Runtime::new().expect("there are threads");
        let served = runtime.block_on(async {
            if let Self::Axum = self {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                println!("{}", listener.local_addr()?.port());
                return axum::serve(listener, app).await;
            }
            let server = Server::bind("127.0.0.1:0").await?;
            println!("{}", server.local_addr()?.port());
            server.serve(app, pending()).await
        });
        served.expect("it never ends");
    }
}
