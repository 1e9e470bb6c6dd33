//! Everything that is logged in this process, by whatever crate, and every message of a panic.

use std::{io::Write as _, panic, sync::Once};

use article_webhook_tests::log_buffer::LogBuffer;
use tracing::Level;
use tracing_subscriber::util::SubscriberInitExt;

use crate::site::BUG;

static LOG: LogBuffer = LogBuffer::new();

/// A line of the `log` crate, which some frameworks still write to.
pub(crate) const OTHER_FACADE: &str = "through another facade";

/// From now on, whichever test comes first.
pub(crate) fn observe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false);
        subscriber.with_writer(|| &LOG).finish().init();
        log::debug!("{OTHER_FACADE}");
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            writeln!(&LOG, "{info}").expect("it is memory");
            if !info.to_string().contains(BUG) {
                report(info);
            }
        }));
    });
}

/// What was written until now.
pub(crate) fn log() -> String {
    LOG.text()
}
