//! What the crates log from the level `INFO` on: the message of each event and its cause, without the other fields.

use std::{
    io::{self, Write},
    mem,
    sync::{Mutex, PoisonError},
};

use tracing_subscriber::{fmt::format::debug_fn, util::SubscriberInitExt};

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

pub(crate) fn observe() {
    let fields = debug_fn(|writer, field, value| match field.name() {
        "message" => write!(writer, "{value:?}"),
        "cause" => write!(writer, " ({value:?})"),
        _ => Ok(()),
    });
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
    let subscriber = subscriber.with_ansi(false).without_time().with_target(false);
    subscriber.fmt_fields(fields).with_writer(|| Log).finish().init();
}

/// The lines since the last time.
pub(crate) fn take() -> Vec<String> {
    let log = mem::take(&mut *LOG.lock().unwrap_or_else(PoisonError::into_inner));
    let log = String::from_utf8(log).expect("a log is text");
    log.lines().map(|line| line.trim().to_owned()).collect()
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
