use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;

/// What the application behind a receiver was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The sink took a delivery.
    Accepted(Accepted),
    /// The sink came to the end of its work on a delivery.
    Finished,
    /// The handler of the extractor ran.
    Handled { job_id: String },
    /// The sink got the refusal of an authentic delivery.
    Refused { job_id: Option<String> },
    /// The same, and the sink was given the body, to keep it.
    Kept { job_id: Option<String>, body: Accepted },
}

impl Entry {
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Kept { .. })
    }
}

/// A body, with what came with it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) job_id: String,
    pub(crate) event: String,
    pub(crate) target: String,
    pub(crate) intent: Option<String>,
    pub(crate) body: Bytes,
}

/// A body is shown by its size: some have megabytes.
impl fmt::Debug for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job_id, event, target, intent, body } = self;
        let size = body.len();
        write!(f, "{job_id:?} {event:?} for {target:?} {intent:?}, {size} bytes")
    }
}

/// The entries of one server, in the order they were made. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<(Mutex<Vec<Entry>>, Condvar)>);

impl Ledger {
    pub(crate) fn write(&self, entry: Entry) {
        let (entries, written) = &*self.0;
        entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        written.notify_all();
    }

    /// The entries since the last time.
    pub(crate) fn take(&self) -> Vec<Entry> {
        let (entries, _) = &*self.0;
        std::mem::take(&mut entries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until there are `count` entries and takes them all; fewer if they do not come in time.
    pub(crate) fn take_when(&self, count: usize, within: Duration) -> Vec<Entry> {
        let (entries, written) = &*self.0;
        let entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut entries, _) = written
            .wait_timeout_while(entries, within, |entries| entries.len() < count)
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut entries)
    }
}
