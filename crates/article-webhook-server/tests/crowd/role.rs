//! Which server a process is.

use std::{env, future::pending, time::Duration};

use article_webhook_axum::{AuthToken, Delivery, Receiver, Reply, fixture, receive};
use article_webhook_server::Server;
use axum::{Router, routing::any};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::child::{self, ServerProcess};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// This server with deadlines for a crowd: long enough that all of it is there before the first deadline, on a
    /// busy machine too.
    Crowded,
    /// This server with almost no file descriptors.
    Starved,
}

impl Role {
    /// How many files a starved process may open: a runtime and a listener need about ten.
    pub(crate) const DESCRIPTORS: u64 = 40;

    /// The deadlines of a crowd, for its heads and for its bodies.
    pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

    const ALL: [Self; 2] = [Self::Crowded, Self::Starved];

    fn arg(self) -> String {
        format!("--serve={self:?}")
    }

    fn receiver(self) -> Receiver {
        let token = AuthToken::new(fixture::TOKEN).expect("it is a token");
        let receiver = Receiver::builder(token);
        match self {
            Self::Crowded => receiver.body_deadline(Self::DEADLINE),
            Self::Starved => receiver,
        }
        .build()
        .expect("the settings are valid")
    }

    pub(crate) fn from_args() -> Option<Self> {
        let arg = env::args().nth(1)?;
        Self::ALL.into_iter().find(|role| role.arg() == arg)
    }

    pub(crate) fn start(self) -> ServerProcess {
        ServerProcess::start(&self.arg())
    }

    /// Serves on a free port of the loopback, which it prints.
    pub(crate) fn serve(self) {
        if let Self::Starved = self {
            let limit = Some(Self::DESCRIPTORS);
            let limit = Rlimit { current: limit, maximum: limit };
            setrlimit(Resource::Nofile, limit).expect("a limit may be lowered");
        }
        child::end_with_the_parent();
        let sink = async |_: Delivery| Reply::Stored;
        let app = Router::new().route("/", any(receive(self.receiver(), sink)));
        let runtime = tokio::runtime::Runtime::new().expect("there are threads");
        let served = runtime.block_on(async {
            let server = match self {
                Self::Crowded => Server::builder().head_deadline(Self::DEADLINE),
                Self::Starved => Server::builder(),
            };
            let server = server.bind("127.0.0.1:0").await?;
            println!("{}", server.local_addr()?.port());
            server.serve(app, pending()).await
        });
        served.expect("it never ends");
    }
}
