use std::{
    env,
    io::{self, BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use article_webhook::fixture;
use article_webhook_axum::{RawDelivery, receive};
use article_webhook_inbox::{Inbox, store::Arrival};
use axum::{
    Router,
    extract::{FromRef, State},
    http::StatusCode,
    routing::post,
};
use tokio::net::TcpListener;

use crate::{
    contenders::naive::{Naive, Naming},
    form::{Form, median},
    load::{Lap, p99},
    sender::{flood, pace},
    table::{Table, at_least, at_most, plain},
};

const CONNECTIONS: usize = 64;
const PACE: u32 = 200;
const TARGET: f64 = 1.0;

/// A pause in which a server finishes delayed work, so that it does not fall into the other's turn.
const REST: Duration = Duration::from_millis(400);

/// Which receiver a process of this bench is.
pub(crate) struct Role {
    name: String,
    url: String,
}

impl Role {
    pub(crate) fn of(arguments: &[String]) -> Option<Self> {
        let [name, url] = arguments else { return None };
        name.starts_with("--serve-").then(|| Self { name: name.clone(), url: url.clone() })
    }

    /// Serves on a free port of the loopback interface, which it prints. It stops when standard input ends, so that no
    /// server outlives the benchmark.
    pub(crate) fn serve(self) {
        crate::runtime().block_on(async {
            let app = if self.name == "--serve-inbox" {
                let inbox = Inbox::new(crate::store(&self.url, "receiver").await);
                Router::new().route("/", post(receive(fixture::receiver(), inbox)))
            } else {
                let naive =
                    Arc::new(Naive::connect(&self.url, "naive_receiver", Naming::Prepared).await);
                let shared = Shared { receiver: fixture::receiver(), naive };
                Router::new().route("/", post(record)).with_state(shared)
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

/// The same checks, and one transaction for each delivery.
async fn record(State(shared): State<Shared>, RawDelivery(delivery): RawDelivery) -> StatusCode {
    shared.naive.record(&Arrival::from(&delivery)).await;
    StatusCode::OK
}

/// A receiver as a process of its own.
struct Receiver {
    process: Child,
    address: SocketAddr,
}

impl Receiver {
    fn start(name: &str, url: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args([name, url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        Self { process, address: address.trim().parse().unwrap() }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// A complete receiver over loopback, in a process of its own, compared with a simple one.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let receivers = ["--serve-naive", "--serve-inbox"].map(|name| Receiver::start(name, &url));
    let lap = |index: usize, turn| {
        let lap = runtime.block_on(flood(receivers[index].address, CONNECTIONS, turn));
        thread::sleep(REST);
        lap
    };
    _ = [lap(0, form.turn() / 3), lap(1, form.turn() / 3)];
    let rounds: Vec<[Lap; 2]> = (0..form.rounds())
        .map(|round| {
            if round % 2 == 0 {
                [lap(0, form.turn()), lap(1, form.turn())]
            } else {
                let second = lap(1, form.turn());
                [lap(0, form.turn()), second]
            }
        })
        .collect();
    // In turns too: a checkpoint or a vacuum of what came before falls into one of them.
    let paced: Vec<[f64; 2]> = (0..form.rounds())
        .map(|_| {
            receivers.each_ref().map(|receiver| {
                let lap = pace(receiver.address, CONNECTIONS, PACE, form.turn() * 2);
                let lap = runtime.block_on(lap);
                thread::sleep(REST);
                p99(lap.waits)
            })
        })
        .collect();
    let paced = [0, 1].map(|index| median(paced.iter().map(|round| round[index])));
    let rate = |index: usize| median(rounds.iter().map(|laps| laps[index].rate));
    let slowest =
        |index: usize| p99(rounds.iter().flat_map(|laps| laps[index].waits.iter().copied()));
    let ratio = median(rounds.iter().map(|[naive, inbox]| inbox.rate / naive.rate));
    let mut table = Table::new(
        "postgres: receiver",
        "axum receivers over loopback, 64 connections, 16 KB : one INSERT for each delivery",
        &["receiver", "a second", ": naive", "p99", "p99 at 200 a second"],
    );
    table.row(
        "naive",
        [plain(rate(0), ""), plain(1.0, " ×"), plain(slowest(0), " ms"), plain(paced[0], " ms")],
    );
    table.row(
        "inbox",
        [
            plain(rate(1), ""),
            at_least(ratio, TARGET, " ×"),
            plain(slowest(1), " ms"),
            at_most(paced[1], 50.0, " ms"),
        ],
    );
    println!("{table}");
}
