use std::io::{self, Write};

use tracing_subscriber::filter::LevelFilter;

use super::{Colour, Output};

/// Shows on standard error why a delivery was refused. The log of the crates has no secrets, no bodies, and nothing that
/// is not escaped.
pub(crate) fn show_refusals(output: &Output) {
    let lines = output.clone();
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_target(false)
        .without_time()
        .with_ansi(output.stderr == Colour::On)
        .with_writer(move || Lines(lines.clone()));
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
