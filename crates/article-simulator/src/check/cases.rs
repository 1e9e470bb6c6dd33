//! The cases, by what they are about. A name says what is wrong with the request, or what is special about it.

mod bodies;
mod connections;
mod deliveries;
mod headers;
mod strangers;

use super::{case::Case, site::Site};

/// Cases among which the order does not matter.
pub(super) struct Group {
    pub(super) cases: Vec<Case>,
    pub(super) at_once: usize,
}

/// First what everything else depends on, alone; then what takes no time, side by side; then what holds a connection for
/// a while, one after the other, for a receiver may have one thread; and at last whether it is still there.
pub(super) fn all(site: &Site) -> [Group; 4] {
    let quick = [deliveries::quick(), strangers::quick(site), headers::quick(), bodies::quick()];
    [
        Group { cases: deliveries::first(), at_once: 1 },
        Group { cases: quick.into_iter().flatten().collect(), at_once: 8 },
        Group {
            cases: [strangers::slow(), connections::slow()].into_iter().flatten().collect(),
            at_once: 1,
        },
        Group { cases: deliveries::last(), at_once: 1 },
    ]
}
