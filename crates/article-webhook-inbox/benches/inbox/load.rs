use std::{
    thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::store::Arrival;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::{bodies::Bodies, contenders::Contender, form::median};

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
            thread::sleep(REST);
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

    /// Over all rounds, with all checkpoints in them.
    pub(crate) fn p99(&self, contender: usize) -> f64 {
        p99(self.rounds.iter().flat_map(|laps| laps[contender].waits.iter().copied()))
    }
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
fn lap(
    contender: &Contender,
    bodies: &Bodies,
    waiting: usize,
    turn: Duration,
    runtime: &Runtime,
) -> Lap {
    let start = Instant::now();
    let waits = contender.waits(bodies, waiting, start + turn, runtime);
    Lap { rate: waits.len() as f64 / start.elapsed().as_secs_f64(), waits }
}

/// How long each delivery takes to be recorded until that time, one after the other in each of that many tasks.
pub(crate) async fn waits<R: Future<Output = ()> + Send>(
    bodies: &Bodies,
    waiting: usize,
    until: Instant,
    record: impl Fn(Arrival) -> R + Clone + Send + 'static,
) -> Vec<Duration> {
    let mut tasks = JoinSet::new();
    for _ in 0..waiting {
        let (record, bodies) = (record.clone(), bodies.clone());
        tasks.spawn(async move {
            let mut random = fastrand::Rng::new();
            let mut waits = Vec::new();
            while Instant::now() < until {
                let arrival = bodies.arrival(&mut random);
                let start = Instant::now();
                record(arrival).await;
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
