use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::Instant;

/// The pause between two reports of refused heads. Strangers can cause them, and must not fill a log.
const REPORT_PAUSE: Duration = Duration::from_secs(10);

/// What the server waits for on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// A head, from its first byte to its last.
    Head,
    /// The rest of a body.
    Body,
    /// The service.
    Processing,
    /// The peer, which does not read its response.
    Unread,
    /// The peer, which has its response and may still be sending.
    Closing,
    /// The next request, after a good response.
    Idle,
}

impl Activity {
    const ALL: [(Self, &str); 6] = [
        (Self::Head, "without a complete head"),
        (Self::Body, "without a complete body"),
        (Self::Processing, "in progress"),
        (Self::Unread, "not reading their response"),
        (Self::Closing, "refused and about to be closed"),
        (Self::Idle, "idle"),
    ];
}

/// How many connections of a server are at what.
#[derive(Debug, Default)]
pub(crate) struct Activities {
    counts: [AtomicUsize; Activity::ALL.len()],
    is_full: AtomicBool,
    is_stopping: AtomicBool,
    refused_head: Mutex<Option<Instant>>,
}

impl Activities {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Moves one connection from one activity to another. `None` is before its start and after its end.
    pub(super) fn change(&self, from: Option<Activity>, to: Option<Activity>) {
        if from == to {
            return;
        }
        if let Some(to) = to {
            self.counts[to as usize].fetch_add(1, Relaxed);
        }
        if let Some(from) = from {
            self.counts[from as usize].fetch_sub(1, Relaxed);
        }
    }

    pub(crate) fn set_full(&self) {
        self.is_full.store(true, Relaxed);
    }

    pub(crate) fn set_room(&self) {
        self.is_full.store(false, Relaxed);
    }

    /// Whether new connections wait because there is no room for them.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Relaxed)
    }

    pub(crate) fn set_stopping(&self) {
        self.is_stopping.store(true, Relaxed);
    }

    /// Whether the shutdown has begun.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Relaxed)
    }

    /// A head is refused now. Returns whether that is to be reported.
    pub(super) fn reports_refused_head(&self, now: Instant) -> bool {
        let mut reported = self.refused_head.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = reported.is_none_or(|reported| now - reported >= REPORT_PAUSE);
        if is_due {
            *reported = Some(now);
        }
        is_due
    }
}

/// The connections by what they are at, such as `2 without a complete head, 1 in progress`.
impl fmt::Display for Activities {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (activity, name) in Activity::ALL {
            let count = self.counts[activity as usize].load(Relaxed);
            if count > 0 {
                write!(formatter, "{separator}{count} {name}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}
