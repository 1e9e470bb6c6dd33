use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::{
    SqliteStore,
    store::{Recorded, Store},
};
use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    bodies::Bodies,
    contenders::{log::Log, naive::Naive},
};

/// What stores deliveries.
#[derive(Clone)]
pub(crate) enum Contender {
    Store(SqliteStore),
    Naive(Arc<Naive>),
    Log(Arc<Log>),
}

/// The result of a turn.
#[derive(Debug, Default)]
pub(crate) struct Lap {
    /// Deliveries per second.
    pub(crate) rate: f64,
    /// How long each took.
    pub(crate) waits: Vec<Duration>,
}

/// Stores deliveries for that long, one after the other in each of that many tasks.
pub(crate) fn lap(
    contender: &Contender,
    bodies: &Bodies,
    waiting: usize,
    turn: Duration,
    runtime: &Runtime,
) -> Lap {
    let start = Instant::now();
    let until = start + turn;
    let waits = match contender {
        // Its calls block. In threads of their own they do not pay for the way through a runtime.
        Contender::Naive(naive) => blocking(naive, bodies, waiting, until),
        contender => runtime.block_on(waited(contender, bodies, waiting, until)),
    };
    Lap { rate: waits.len() as f64 / start.elapsed().as_secs_f64(), waits }
}

fn blocking(naive: &Naive, bodies: &Bodies, waiting: usize, until: Instant) -> Vec<Duration> {
    thread::scope(|scope| {
        let deliver = || {
            let mut random = fastrand::Rng::new();
            let mut waits = Vec::new();
            while Instant::now() < until {
                let arrival = bodies.arrival(&mut random);
                let start = Instant::now();
                naive.record(&arrival);
                waits.push(start.elapsed());
            }
            waits
        };
        let threads: Vec<_> = (0..waiting).map(|_| scope.spawn(deliver)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

async fn waited(
    contender: &Contender,
    bodies: &Bodies,
    waiting: usize,
    until: Instant,
) -> Vec<Duration> {
    let mut tasks = JoinSet::new();
    for _ in 0..waiting {
        let (contender, bodies) = (contender.clone(), bodies.clone());
        tasks.spawn(async move {
            let mut random = fastrand::Rng::new();
            let mut waits = Vec::new();
            while Instant::now() < until {
                let arrival = bodies.arrival(&mut random);
                let start = Instant::now();
                match &contender {
                    Contender::Store(store) => {
                        assert_eq!(store.record(arrival).await.unwrap(), Recorded::Stored);
                    }
                    Contender::Log(log) => log.record(arrival).await,
                    Contender::Naive(_) => unreachable!("it has threads of its own"),
                }
                waits.push(start.elapsed());
            }
            waits
        });
    }
    tasks.join_all().await.into_iter().flatten().collect()
}

/// The time in milliseconds within which 99 of 100 deliveries were stored.
pub(crate) fn p99(waits: impl IntoIterator<Item = Duration>) -> f64 {
    let mut waits: Vec<_> = waits.into_iter().collect();
    waits.sort_unstable();
    waits[(waits.len() * 99 / 100).min(waits.len() - 1)].as_secs_f64() * 1000.0
}
