//! What is logged in this process, as text.

use std::sync::Once;

use article_webhook_inbox_contract::log_buffer::LogBuffer;

static LOG: LogBuffer = LogBuffer::new();

/// Keeps what is logged from now on.
pub(crate) fn keep() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| tracing_subscriber::fmt().with_writer(|| &LOG).with_ansi(false).init());
}

/// What was logged.
pub(crate) fn kept() -> String {
    LOG.text()
}
