//! Every log event of every crate in this process, every metric, and every message of a panic outside of a handler.

use std::{
    io::{self, Write},
    panic,
    sync::{Mutex, Once, PoisonError},
    thread,
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use tracing::Level;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static METRICS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Begins to observe, in whichever test comes first.
pub(crate) fn observe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        article_webhook::hide_causes();
        let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false);
        let subscriber = subscriber.with_writer(|| Sink(&LOG)).finish();
        tracing::subscriber::set_global_default(subscriber).expect("it is the first");
        assert!(metrics::set_global_recorder(Names).is_ok(), "it is the first");
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // The panic of a handler belongs to the application.
            if thread::current().name() != Some("article-handler") {
                writeln!(Sink(&LOG), "{info}").expect("it is memory");
                report(info);
            }
        }));
    });
}

/// The lines that were logged until now.
pub(crate) fn log() -> String {
    text(&LOG)
}

/// A line for each use of a metric.
pub(crate) fn metrics() -> String {
    text(&METRICS)
}

fn text(bytes: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

struct Sink(&'static Mutex<Vec<u8>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Names;

impl Names {
    fn write(name: &str, details: impl std::fmt::Debug) {
        writeln!(Sink(&METRICS), "{name} {details:?}").expect("it is memory");
    }
}

impl Recorder for Names {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, meaning: SharedString) {
        Self::write(name.as_str(), meaning);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, meaning: SharedString) {
        Self::write(name.as_str(), meaning);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, meaning: SharedString) {
        Self::write(name.as_str(), meaning);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        Self::write(key.name(), (key, metadata));
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        Self::write(key.name(), (key, metadata));
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        Self::write(key.name(), (key, metadata));
        Histogram::noop()
    }
}
