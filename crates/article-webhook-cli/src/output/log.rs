use std::{
    collections::VecDeque,
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer, filter::LevelFilter, fmt::layer, layer::Context, layer::SubscriberExt, registry,
    util::SubscriberInitExt,
};

use super::{Colour, Output};

/// How many refusals are remembered.
const MAX_REFUSALS: usize = 200;

/// Shows on standard error why a delivery was refused, and remembers it. The log of the crates has no secrets, no bodies, and
/// nothing that is not escaped.
pub(crate) fn show_refusals(output: &Output) -> Refusals {
    let (lines, refusals) = (output.clone(), Refusals::default());
    let shown = layer()
        .with_target(false)
        .without_time()
        .with_ansi(output.stderr == Colour::On)
        .with_writer(move || Lines(lines.clone()));
    // Has no effect if there is a log already.
    let _ = registry().with(LevelFilter::WARN).with(shown).with(refusals.clone()).try_init();
    refusals
}

/// Remembers why a delivery was refused, and shows nothing.
pub(crate) fn remember_refusals() -> Refusals {
    let refusals = Refusals::default();
    let _ = registry().with(LevelFilter::WARN).with(refusals.clone()).try_init();
    refusals
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

/// The last refusals of this process. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<VecDeque<Refusal>>>);

impl Refusals {
    /// The last first.
    pub(crate) fn all(&self) -> Vec<Refusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// A refusal, as the receiver logs it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Refusal {
    pub(crate) at: SystemTime,
    /// What was refused, and why.
    pub(crate) message: String,
    /// More about it, each with its name.
    pub(crate) fields: Vec<(&'static str, String)>,
}

impl Refusal {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.0 == name).map(|field| field.1.as_str())
    }
}

impl<S: Subscriber> Layer<S> for Refusals {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (at, message, fields) = (SystemTime::now(), String::new(), Vec::new());
        let mut refusal = Refusal { at, message, fields };
        event.record(&mut refusal);
        if refusal.message.contains(" refused: ") && refusal.field("code").is_some() {
            let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            refusals.truncate(MAX_REFUSALS - 1);
            refusals.push_front(refusal);
        }
    }
}

impl Visit for Refusal {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.fields.push((name, format!("{value:?}"))),
        }
    }
}
