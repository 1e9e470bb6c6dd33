//! Every log event of every crate in this process without its field `cause`, every metric, and every message of a panic
//! outside of a handler.

use std::{io::Write, panic, sync::Once, thread};

use article_webhook_inbox_contract::log_buffer::LogBuffer;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use tracing::Level;
use tracing_subscriber::fmt::format::debug_fn;

static LOG: LogBuffer = LogBuffer::new();
static METRICS: LogBuffer = LogBuffer::new();

/// Begins to observe, in whichever test comes first.
pub(crate) fn observe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let fields = debug_fn(|writer, field, value| match field.name() {
            "cause" => Ok(()),
            "message" => write!(writer, "{value:?}"),
            name => write!(writer, " {name}={value:?}"),
        });
        let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false);
        let subscriber = subscriber.fmt_fields(fields).with_writer(|| &LOG).finish();
        tracing::subscriber::set_global_default(subscriber).expect("it is the first");
        assert!(metrics::set_global_recorder(Names).is_ok(), "it is the first");
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // The panic of a handler belongs to the application.
            if thread::current().name() != Some("article-handler") {
                writeln!(&LOG, "{info}").expect("it is memory");
                report(info);
            }
        }));
    });
}

/// The lines that were logged until now.
pub(crate) fn log() -> String {
    LOG.text()
}

/// A line for each use of a metric.
pub(crate) fn metrics() -> String {
    METRICS.text()
}

struct Names;

impl Names {
    fn write(name: &str, details: impl std::fmt::Debug) {
        writeln!(&METRICS, "{name} {details:?}").expect("it is memory");
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
