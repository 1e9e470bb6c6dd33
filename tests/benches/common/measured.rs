//! How long is measured for a line of a table.

use std::{env, time::Duration};

/// 2 s for every day, and 15 s (`-- --long`) for figures that are published.
pub(crate) fn line_time() -> Duration {
    let is_long = env::args().any(|argument| argument == "--long");
    Duration::from_secs(if is_long { 15 } else { 2 })
}
