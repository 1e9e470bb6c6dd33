//! Every log event of every crate in this process without its field `cause`, every metric, and every message of a panic
//! outside of a handler.

use std::{
    io::Write,
    panic,
    sync::{LazyLock, Once},
    thread,
};

use article_webhook_inbox_contract::log_buffer::LogBuffer;
use tracing::Level;
use tracing_subscriber::fmt::format::debug_fn;

use crate::recorder::Recorder;

static LOG: LogBuffer = LogBuffer::new();
static METRICS: LazyLock<Recorder> = LazyLock::new(Recorder::default);

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
        assert!(metrics::set_global_recorder(METRICS.clone()).is_ok(), "it is the first");
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

/// A line for each series of a metric.
pub(crate) fn metrics() -> String {
    METRICS.series().iter().map(|it| format!("{} {:?}\n", it.name, it.labels)).collect()
}
