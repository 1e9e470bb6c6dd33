//! The cases. The name of a case states what is wrong or unusual about the request.

mod article;
mod authentication;
mod bodies;
mod case;
mod connections;
mod deliveries;
mod expectation;
mod headers;
mod sample;

pub use article::TITLE;
pub use sample::JOB_ID_PREFIX;

pub(crate) use case::{Answer, Case};
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
/// 1. one delivery, without which the other cases mean little;
/// 2. fast cases, several at once;
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
