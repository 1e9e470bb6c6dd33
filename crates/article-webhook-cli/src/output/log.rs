use std::io::{self, IsTerminal, Write};

use tracing_subscriber::filter::LevelFilter;

use super::Output;

/// Shows on standard error why a delivery was refused. The log of the crates has no secrets, no bodies, and nothing that
/// is not escaped.
pub(crate) fn show_refusals(output: &Output) {
    let output = output.clone();
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_target(false)
        .without_time()
        .with_ansi(io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_writer(move || Lines(output.clone()));
    // Has no effect if there is a log already.
    let _ = log.try_init();
}

/// Takes each event of the log in one call.
struct Lines(Output);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.note(String::from_utf8_lossy(bytes).trim_end_matches('\n'));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
