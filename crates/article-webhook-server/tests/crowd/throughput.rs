//! Good deliveries per second: this server and `axum::serve` in turns.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    child::ServerProcess,
    good::{deliver, delivery},
    role::Role,
};

const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_millis(300);
const SENDERS: usize = 8;

pub(crate) fn is_close_to_axum_serve() {
    let servers = [Role::Ours, Role::Axum].map(Role::start);
    let runtime = Runtime::new().expect("there are threads");
    // Deliveries, and processor time for one of them.
    let measure = |server: &ServerProcess| {
        let before = server.processor_time();
        let delivered = runtime.block_on(storm(server.address)) as f64;
        (delivered, (server.processor_time() - before).as_secs_f64() / delivered)
    };
    _ = servers.each_ref().map(measure); // warms up
    let (mut rates, mut costs, mut most) = (Vec::new(), Vec::new(), 0.0);
    for round in 0..ROUNDS {
        let mut turn = [0, 1];
        turn.rotate_left(round % 2);
        let mut figures = [(0.0, 0.0); 2];
        for index in turn {
            figures[index] = measure(&servers[index]);
        }
        let [(ours, cost), (theirs, their_cost)] = figures;
        rates.push(ours / theirs);
        costs.push(cost / their_cost);
        most = f64::max(most, ours / ROUND.as_secs_f64());
    }
    let (rate, cost) = (median(rates), median(costs));
    println!(
        "throughput: up to {most:.0} deliveries/s, {rate:.2} times axum::serve, processor time for one {cost:.2} times"
    );
    assert!(cost < 1.5, "a delivery costs far more than with axum::serve");
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

async fn storm(address: SocketAddr) -> usize {
    let start = Instant::now();
    let sender = || async move {
        let (delivery, mut delivered) = (delivery(), 0);
        while start.elapsed() < ROUND {
            deliver(address, &delivery).await;
            delivered += 1;
        }
        delivered
    };
    let senders: JoinSet<usize> = (0..SENDERS).map(|_| sender()).collect();
    senders.join_all().await.into_iter().sum()
}
