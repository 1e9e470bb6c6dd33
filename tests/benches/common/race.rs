//! Ratios of times that a busy machine does not spoil.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use super::median::median;

/// Something to be timed on every item in turn.
pub(crate) type Runner<'a, T> = &'a dyn Fn(&T);

/// Runs each contender in turn, one lap over all items at a time, until the time is up, and returns
/// how long each takes relative to the first.
///
/// Laps that follow one another share whatever else the machine is doing, so each is compared with
/// the first contender's lap of the same round, and the median of these ratios is the result.
pub(crate) fn race<T>(items: &[T], contenders: &[Runner<'_, T>], time: Duration) -> Vec<f64> {
    let mut rounds = Vec::new();
    let start = Instant::now();
    while rounds.len() < 7 || start.elapsed() < time {
        let mut times = vec![0.0; contenders.len()];
        for turn in 0..contenders.len() {
            // The order rotates, so that no contender always runs after the same one.
            let index = (turn + rounds.len()) % contenders.len();
            times[index] = lap(items, contenders[index]);
        }
        rounds.push(times);
    }
    (0..contenders.len())
        .map(|index| median(rounds.iter().map(|times| times[index] / times[0])))
        .collect()
}

fn lap<T>(items: &[T], contender: Runner<'_, T>) -> f64 {
    let start = Instant::now();
    for item in items {
        contender(black_box(item));
    }
    start.elapsed().as_secs_f64()
}
