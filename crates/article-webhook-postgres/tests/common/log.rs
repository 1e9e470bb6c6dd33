//! What is logged in this process, as text.

use std::{
    io,
    sync::{Mutex, Once, PoisonError},
};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps what is logged from now on.
pub(crate) fn keep() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| tracing_subscriber::fmt().with_writer(|| Log).with_ansi(false).init());
}

/// What was logged.
pub(crate) fn kept() -> String {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&log).into_owned()
}
