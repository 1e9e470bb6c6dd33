//! Everything that is logged in this process, by whatever crate, and every message of a panic.

use std::{
    io::{self, Write},
    panic,
    sync::{Mutex, Once, PoisonError},
};

use tracing::Level;
use tracing_subscriber::util::SubscriberInitExt;

use crate::site::BUG;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// From now on, whichever test comes first.
pub(crate) fn observe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false);
        // With the records of the `log` crate, which some frameworks still write.
        subscriber.with_writer(|| Log).finish().init();
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            writeln!(Log, "{info}").expect("it is memory");
            if !info.to_string().contains(BUG) {
                report(info);
            }
        }));
    });
}

/// What was written until now.
pub(crate) fn log() -> String {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&log).into_owned()
}

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
