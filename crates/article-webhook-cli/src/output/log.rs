use std::io::{self, IsTerminal};

use tracing_subscriber::filter::LevelFilter;

/// Shows on standard error why a delivery was refused. The log of the crates has no secrets, no bodies, and nothing that
/// is not escaped.
pub(crate) fn show_refusals() {
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_target(false)
        .without_time()
        .with_ansi(io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_writer(io::stderr);
    // Has no effect if there is a log already.
    let _ = log.try_init();
}
