//! What a child process is: a receiver with the project's inbox.

use std::{fmt::Write as _, io, path::Path, process, thread, time::Duration};

use article_webhook_axum::{Sink, fixture, receive};
use article_webhook_inbox::{Filter, Inbox};
use article_webhook_server::Server;
use axum::{
    Router,
    routing::{any, get},
};
use tokio::{
    runtime::{self, Runtime},
    sync::watch,
};

use crate::{handler::Handler, orders::application, runs::Runs};

/// The file of the inbox in a child's folder.
pub(crate) const FILE: &str = "inbox.db";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// An inbox without a worker.
    Receiver,
    /// An inbox and a worker.
    Inbox,
    /// An inbox and a worker with few attempts and short limits.
    ShortLimits,
    /// An inbox and a worker with its default settings.
    Defaults,
    /// An inbox and a worker that makes a single attempt.
    Once,
    /// An inbox, a worker and a collector, which order articles.
    Orders,
}

impl Role {
    /// How many attempts the worker with short limits makes.
    pub(crate) const ATTEMPTS: u32 = 3;

    const ALL: [Self; 6] =
        [Self::Receiver, Self::Inbox, Self::ShortLimits, Self::Defaults, Self::Once, Self::Orders];

    pub(crate) fn argument(self) -> String {
        format!("--serve={self:?}")
    }

    pub(crate) fn from_arguments() -> Option<Self> {
        let argument = std::env::args().nth(1)?;
        Self::ALL.into_iter().find(|role| role.argument() == argument)
    }

    /// Prints the process's id and port, and serves until standard input ends: so no child outlives the test.
    pub(crate) fn serve(self) {
        let (stop, stopped) = watch::channel(());
        thread::spawn(move || {
            _ = io::copy(&mut io::stdin(), &mut io::sink());
            drop(stop);
            thread::sleep(Duration::from_secs(10));
            process::exit(3);
        });
        let served = self.runtime().block_on(async {
            match self {
                Self::Orders => application::serve(stopped).await,
                _ => self.receive(stopped).await,
            }
        });
        if let Err(error) = served {
            eprintln!("{error}");
            process::exit(2);
        }
    }

    /// One thread for everything that is not the inbox's own, so that strace counts its calls in one row.
    fn runtime(self) -> Runtime {
        let mut builder = match self {
            Self::ShortLimits | Self::Defaults | Self::Once => runtime::Builder::new_multi_thread(),
            _ => runtime::Builder::new_current_thread(),
        };
        builder.enable_all().build().expect("there are threads")
    }

    async fn receive(self, stopped: watch::Receiver<()>) -> Result<(), Failure> {
        let inbox = Inbox::open(FILE).await?;
        let listed = inbox.clone();
        let entries = async move || rows(&listed).await.unwrap_or_else(|error| error.to_string());
        let app = Router::new().route("/entries", get(entries));
        let door = serve(app, inbox.clone(), stopped.clone());
        if self == Self::Receiver {
            door.await?;
            return Ok(inbox.close().await?);
        }
        let handler = Handler::new(Runs::write(), Path::new(FILE));
        let worker = inbox.worker(move |job| handler.clone().handle(job)).concurrency(4);
        let worker = match self {
            Self::ShortLimits => worker
                .attempts(Self::ATTEMPTS)
                .backoff(Duration::from_millis(20), Duration::from_millis(100))
                .handler_timeout(Duration::from_millis(400))
                .lease(Duration::from_millis(600))
                .poll(Duration::from_millis(100)),
            Self::Defaults => worker,
            Self::Once => worker.attempts(1),
            // A job that is killed many times over is not given up, so that none is missing in the end.
            _ => worker.attempts(100).backoff(Duration::from_millis(10), Duration::from_millis(50)),
        };
        let (served, worked) = tokio::join!(door, worker.run(until(stopped)));
        served?;
        worked?;
        Ok(inbox.close().await?)
    }
}

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) async fn until(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

pub(crate) async fn serve<S: Sink + 'static>(
    app: Router,
    sink: S,
    stopped: watch::Receiver<()>,
) -> Result<(), Failure> {
    let app = app.route("/webhooks/articles", any(receive(fixture::receiver(), sink)));
    let server = Server::bind("127.0.0.1:0").await?;
    println!("{} {}", process::id(), server.local_addr()?.port());
    server.serve(app, until(stopped)).await?;
    Ok(())
}

/// `job state attempts` of every entry, a line each.
async fn rows(inbox: &Inbox) -> Result<String, article_webhook_inbox::Error> {
    let mut lines = String::new();
    let mut filter = Filter::default();
    loop {
        let page = inbox.list(filter.clone()).await?;
        for entry in page.items {
            writeln!(lines, "{} {} {}", entry.key.job_id, entry.state, entry.attempts)
                .expect("a text grows");
        }
        let Some(next) = page.next else { return Ok(lines) };
        filter.after = next;
    }
}
