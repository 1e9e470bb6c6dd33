//! An application orders articles under intents, and polls those that do not come. It is killed, and its power is cut.

mod api;
pub(crate) mod application;
mod customers;
pub(crate) mod cuts;
pub(crate) mod kills;
mod ledger;

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{child::Child, service::Line};

/// Waits until no article is missing, or the child has died.
fn finish(child: &Child) {
    let start = Instant::now();
    while let Ok(open) = Line::open(child.address).and_then(|mut line| line.ask("/open")) {
        if open == "0" {
            return;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{open} are not done after two minutes"
        );
        thread::sleep(Duration::from_millis(50));
    }
}
