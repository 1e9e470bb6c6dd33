use std::{
    env,
    io::{self, BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use article_webhook::fixture;
use article_webhook_axum::{RawDelivery, receive};
use article_webhook_inbox::{Inbox, store::Arrival};
use axum::{Router, extract::FromRef, extract::State, http::StatusCode, routing::post};
use tokio::net::TcpListener;

use crate::contenders::naive::Naive;

/// Which receiver a process of this bench is.
#[derive(Debug, Clone)]
pub(crate) enum Role {
    /// The receiver of this project.
    Inbox(PathBuf),
    /// A handler with the same checks, and one transaction for each delivery.
    Naive(PathBuf),
}

impl Role {
    pub(crate) fn of(arguments: &[String]) -> Option<Self> {
        let [role, folder, ..] = arguments else { return None };
        match role.as_str() {
            "--serve-inbox" => Some(Self::Inbox(folder.into())),
            "--serve-naive" => Some(Self::Naive(folder.into())),
            _ => None,
        }
    }

    fn arguments(&self) -> (&'static str, &Path) {
        match self {
            Self::Inbox(folder) => ("--serve-inbox", folder),
            Self::Naive(folder) => ("--serve-naive", folder),
        }
    }

    /// Serves on a free port of the loopback interface, which it prints. It stops when standard input ends, so that no
    /// server outlives the benchmark.
    pub(crate) fn serve(self) {
        crate::runtime().block_on(async {
            let app = match self {
                Self::Inbox(folder) => {
                    let inbox = Inbox::open(folder.join("inbox.db")).await.unwrap();
                    Router::new().route("/", post(receive(fixture::receiver(), inbox)))
                }
                Self::Naive(folder) => Router::new().route("/", post(naive)).with_state(Shared {
                    receiver: fixture::receiver(),
                    naive: Arc::new(Naive::open(&folder)),
                }),
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            println!("{}", listener.local_addr().unwrap());
            tokio::spawn(async move { axum::serve(listener, app).await });
            let ended = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
            ended.await.unwrap().unwrap();
        });
    }
}

#[derive(Clone)]
struct Shared {
    receiver: article_webhook::Receiver,
    naive: Arc<Naive>,
}

impl FromRef<Shared> for article_webhook::Receiver {
    fn from_ref(shared: &Shared) -> Self {
        shared.receiver.clone()
    }
}

async fn naive(State(shared): State<Shared>, RawDelivery(delivery): RawDelivery) -> StatusCode {
    let store = move || shared.naive.record(&Arrival::from(&delivery));
    match tokio::task::spawn_blocking(store).await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// A receiver as a process of its own.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(role: &Role) -> Self {
        let (role, folder) = role.arguments();
        let mut process = Command::new(env::current_exe().unwrap())
            .args([role.as_ref(), folder.as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { process, address: address.trim().parse().unwrap() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
