//! What the crates log from the level `INFO` on: the message of each event and its cause, without the other fields.

use article_webhook_tests::log_buffer::LogBuffer;
use tracing_subscriber::{fmt::format::debug_fn, util::SubscriberInitExt};

static LOG: LogBuffer = LogBuffer::new();

pub(crate) fn observe() {
    let fields = debug_fn(|writer, field, value| match field.name() {
        "message" => write!(writer, "{value:?}"),
        "cause" => write!(writer, " ({value:?})"),
        _ => Ok(()),
    });
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
    let subscriber = subscriber.with_ansi(false).without_time().with_target(false);
    subscriber.fmt_fields(fields).with_writer(|| &LOG).finish().init();
}

/// The lines since the last time.
pub(crate) fn take() -> Vec<String> {
    LOG.take().lines().map(|line| line.trim().to_owned()).collect()
}
