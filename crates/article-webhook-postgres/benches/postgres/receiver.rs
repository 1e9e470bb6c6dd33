use std::{sync::Arc, thread, time::Duration};

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
    child::{ServerProcess, end_with_the_parent},
    contenders::Naive,
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

/// The arguments that make this program a receiver, before the URL of the database.
const ROLES: [&str; 2] = ["--serve-naive", "--serve-inbox"];

/// Serves on a free port of the loopback interface, which it prints.
pub(crate) fn serve(role: &str, url: &str) {
    end_with_the_parent();
    crate::runtime().block_on(async {
        let receiver = fixture::receiver();
        let app = if role == ROLES[1] {
            let inbox = Inbox::new(crate::store(url, "receiver").await);
            Router::new().route("/", post(receive(receiver, inbox)))
        } else {
            let naive = Arc::new(Naive::connect(url, "naive_receiver").await);
            Router::new().route("/", post(record)).with_state(Shared { receiver, naive })
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap().port());
        axum::serve(listener, app).await.unwrap();
    });
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

/// A complete receiver over loopback, in a process of its own, compared with a simple one.
pub(crate) fn run(form: Form) {
    let Some(server) = crate::server() else { return };
    let (runtime, url) = (crate::runtime(), server.url());
    let receivers = ROLES.map(|role| ServerProcess::start(&format!("{role}={url}")));
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
