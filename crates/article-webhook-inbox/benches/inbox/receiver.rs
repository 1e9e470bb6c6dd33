pub(crate) mod sender;
pub(crate) mod server;

use std::{thread, time::Duration};

use self::sender::{flood, pace};
use crate::{
    form::{Form, median},
    load::{Lap, p99},
    scratch,
    table::{Table, at_least, at_most, plain},
};

const CONNECTIONS: usize = 64;
const PACE: u32 = 200;

/// A pause in which a server finishes delayed work, so that it does not fall into the other's turn.
const REST: Duration = Duration::from_millis(400);

/// A complete receiver over loopback, on a runtime of its own, compared with a simple one.
pub(crate) fn run(form: Form) {
    let folder = scratch::folder();
    let (runtime, servers) = (crate::runtime(), crate::runtime());
    let addresses = servers.block_on(async {
        let apps = [server::naive(folder.path()), server::inbox(folder.path()).await];
        let [naive, inbox] = apps.map(server::serve);
        [naive.await, inbox.await]
    });
    let lap = |index: usize, turn| {
        let lap = runtime.block_on(flood(addresses[index], CONNECTIONS, turn));
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
    let paced = addresses.map(|address| {
        let lap = runtime.block_on(pace(address, CONNECTIONS, PACE, form.turn() * 4));
        thread::sleep(REST);
        p99(lap.waits)
    });

    let rate = |index: usize| median(rounds.iter().map(|laps| laps[index].rate));
    let slowest =
        |index: usize| p99(rounds.iter().flat_map(|laps| laps[index].waits.iter().copied()));
    let ratio = median(rounds.iter().map(|[naive, inbox]| inbox.rate / naive.rate));
    let mut table = Table::new(
        "inbox: receiver",
        "axum receivers over loopback, 64 connections, 16 KB : one SQLite transaction for each delivery",
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
            at_least(ratio, 3.3, " ×"),
            plain(slowest(1), " ms"),
            at_most(paced[1], 50.0, " ms"),
        ],
    );
    println!("{table}");
}
