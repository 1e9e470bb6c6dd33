use std::{
    hint::black_box,
    sync::atomic::{Ordering, fence},
};

use fastrand::Rng;
use quanta::Clock;

use crate::{
    case::{Case, PRESENTED},
    comparison::{Comparison, Headers},
    welch::Times,
};

/// The number of receivers at a time: few enough for the nearest cache.
const DOORS: usize = 32;

const HEADERS: Headers = [("Authorization", PRESENTED), ("Content-Type", "application/json")];

/// The |t| of this number of samples.
///
/// Where in memory a comparison lies has more influence on the time than anything that is looked for. So each
/// comparison draws its class again for each sample: were it visited twice, two equal classes would seem to
/// differ. A sample is taken without knowing its class.
pub(crate) fn run<D: Comparison>(case: &Case, samples: usize, rng: &mut Rng) -> f64 {
    let clock = Clock::new();
    let mut comparisons: Vec<(usize, D)> = (0..DOORS).map(|_| (0, D::new())).collect();
    let mut times = Times::new();
    for _ in 0..samples.div_ceil(DOORS) {
        for (class, comparison) in &mut comparisons {
            *class = rng.usize(..2);
            comparison.accept(case.classes[*class](rng));
        }
        // The first visit brings a comparison into the cache.
        for (_, comparison) in &comparisons {
            assert_eq!(comparison.is_open(&HEADERS), case.accepts, "{}", case.name);
        }
        rng.shuffle(&mut comparisons);
        for (class, comparison) in &comparisons {
            times.add(*class, time(&clock, comparison));
        }
    }
    times.t()
}

#[inline(never)]
fn time(clock: &Clock, comparison: &impl Comparison) -> u64 {
    let start = clock.raw();
    fence(Ordering::SeqCst);
    let left = black_box(black_box(comparison).open(black_box(&HEADERS)));
    fence(Ordering::SeqCst);
    let end = clock.raw();
    drop(left);
    end - start
}

/// Another processor has other caches, and its clock may be a little off.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on_one_processor() {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("it is a processor that runs this");
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on_one_processor() {}
