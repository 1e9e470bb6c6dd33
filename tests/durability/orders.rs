//! An application orders articles under intents, and polls those that do not come. It is killed, and its power is cut.

mod api;
pub(crate) mod application;
pub(crate) mod cuts;
mod ledger;

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{child::Child, service::Line};

/// Waits this long at most until no article is missing, or the child has died.
fn finish(child: &mut Child, limit: Duration) {
    let start = Instant::now();
    loop {
        let open = match Line::open(child.address).and_then(|mut line| line.ask("/open")) {
            // Its connections end before it does.
            Err(_) if child.ends_within(Duration::from_secs(5)) => return,
            open => open.expect("it says how many articles are missing"),
        };
        if open == "0" {
            return;
        }
        assert!(start.elapsed() < limit, "{open} are not done after {limit:?}");
        thread::sleep(Duration::from_millis(50));
    }
}
