//! The cases. A name says what is wrong with the request, or what is unusual about it.

mod article;
mod authentication;
mod bodies;
mod case;
mod connections;
mod deliveries;
mod expectation;
mod headers;
mod sample;

pub(crate) use case::Case;
pub(crate) use expectation::Expectation;
pub(crate) use sample::Sample;

use crate::endpoint::Endpoint;

/// Cases that may run in any order.
pub(crate) struct Phase {
    pub(crate) cases: Vec<Case>,
    /// How many of them run at the same time.
    pub(crate) concurrency: usize,
}

/// The phases, in order:
///
/// 1. one delivery, on which everything else depends;
/// 2. cases that take no time, several at once;
/// 3. cases that hold a connection for a while, one at a time, because a receiver may have one thread;
/// 4. one more delivery, which shows whether the receiver still works.
pub(crate) fn phases(endpoint: &Endpoint) -> [Phase; 4] {
    let quick =
        [deliveries::quick(), authentication::quick(endpoint), headers::quick(), bodies::quick()];
    let slow = [authentication::slow(), connections::slow()];
    [
        Phase { cases: deliveries::first(), concurrency: 1 },
        Phase { cases: quick.into_iter().flatten().collect(), concurrency: 8 },
        Phase { cases: slow.into_iter().flatten().collect(), concurrency: 1 },
        Phase { cases: deliveries::last(), concurrency: 1 },
    ]
}
