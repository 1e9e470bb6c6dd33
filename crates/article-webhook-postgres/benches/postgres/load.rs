use std::{
    thread,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    bodies::Bodies,
    contenders::{Contender, pgbench},
    form::median,
};

/// The result of a turn.
#[derive(Debug, Default)]
pub(crate) struct Lap {
    /// Deliveries per second.
    pub(crate) rate: f64,
    /// How long each took.
    pub(crate) waits: Vec<Duration>,
}

/// The pause in which a contender finishes delayed work, before the turn of another.
const REST: Duration = Duration::from_millis(400);

/// The turns of the contenders, round by round.
pub(crate) struct Race {
    rounds: Vec<Vec<Lap>>,
}

impl Race {
    pub(crate) fn run(
        contenders: &[Contender],
        waiting: usize,
        rounds: usize,
        turn: Duration,
        runtime: &Runtime,
    ) -> Self {
        let bodies = Bodies::new(16 * 1024);
        // The first turns fill caches and let files grow to their size.
        for contender in contenders {
            lap(contender, &bodies, waiting, turn / 3, runtime);
        }
        let round = |round: usize| {
            let mut laps: Vec<Lap> = contenders.iter().map(|_| Lap::default()).collect();
            for index in 0..contenders.len() {
                // The order changes, so that no contender always runs after the same other one.
                let index = (index + round) % contenders.len();
                laps[index] = lap(&contenders[index], &bodies, waiting, turn, runtime);
                thread::sleep(REST);
            }
            laps
        };
        Self { rounds: (0..rounds).map(round).collect() }
    }

    pub(crate) fn rate(&self, contender: usize) -> f64 {
        median(self.rounds.iter().map(|laps| laps[contender].rate))
    }

    /// The median of the ratios within each round.
    pub(crate) fn ratio(&self, contender: usize, to: usize) -> f64 {
        median(self.rounds.iter().map(|laps| laps[contender].rate / laps[to].rate))
    }

    pub(crate) fn p99(&self, contender: usize) -> f64 {
        p99(self.rounds.iter().flat_map(|laps| laps[contender].waits.iter().copied()))
    }
}

/// Stores deliveries for that long, one after the other in each of that many tasks.
fn lap(
    contender: &Contender,
    bodies: &Bodies,
    waiting: usize,
    turn: Duration,
    runtime: &Runtime,
) -> Lap {
    if let Contender::Pgbench(pgbench) = contender {
        return Lap { rate: pgbench::rate(pgbench, waiting, turn), waits: Vec::new() };
    }
    let start = Instant::now();
    let waits = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..waiting {
            let (contender, bodies) = (contender.clone(), bodies.clone());
            tasks.spawn(async move {
                let mut random = fastrand::Rng::new();
                let mut waits = Vec::new();
                while start.elapsed() < turn {
                    let arrival = bodies.arrival(&mut random);
                    let asked = Instant::now();
                    contender.record(arrival).await;
                    waits.push(asked.elapsed());
                }
                waits
            });
        }
        tasks.join_all().await.concat()
    });
    Lap { rate: waits.len() as f64 / start.elapsed().as_secs_f64(), waits }
}

/// The time in milliseconds within which 99 of 100 deliveries were stored.
pub(crate) fn p99(waits: impl IntoIterator<Item = Duration>) -> f64 {
    let mut waits: Vec<_> = waits.into_iter().collect();
    waits.sort_unstable();
    let last = waits.len().saturating_sub(1);
    waits.get((waits.len() * 99 / 100).min(last)).map_or(0.0, |wait| wait.as_secs_f64() * 1000.0)
}
