use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

/// What the server waits for on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// The first byte.
    Silent,
    /// The rest of a head, or the next request.
    Head,
    /// The rest of a body.
    Body,
    /// The service.
    Processing,
    /// The peer, which does not read its response.
    Unread,
    /// The peer, which has its refusal and may still be sending.
    Closing,
}

/// How many connections of a server are at what.
#[derive(Debug, Default)]
pub(crate) struct Activities {
    counts: [AtomicUsize; 6],
    is_full: AtomicBool,
}

/// [`Activities`] at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) silent: usize,
    pub(crate) head: usize,
    pub(crate) body: usize,
    pub(crate) processing: usize,
    pub(crate) unread: usize,
    pub(crate) closing: usize,
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

    pub(crate) fn counts(&self) -> Counts {
        let count = |activity: Activity| self.counts[activity as usize].load(Relaxed);
        Counts {
            silent: count(Activity::Silent),
            head: count(Activity::Head),
            body: count(Activity::Body),
            processing: count(Activity::Processing),
            unread: count(Activity::Unread),
            closing: count(Activity::Closing),
        }
    }

    pub(crate) fn set_full(&self) {
        self.is_full.store(true, Relaxed);
    }

    pub(crate) fn set_room(&self) {
        self.is_full.store(false, Relaxed);
    }

    /// Whether new connections wait because there is no room for them.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_is_counted_once_and_until_its_end() {
        let activities = Activities::new();
        let none = activities.counts();
        activities.change(None, Some(Activity::Silent));
        activities.change(None, Some(Activity::Silent));
        activities.change(Some(Activity::Silent), Some(Activity::Head));
        assert_eq!(activities.counts(), Counts { silent: 1, head: 1, ..none });
        activities.change(Some(Activity::Head), None);
        activities.change(Some(Activity::Silent), Some(Activity::Closing));
        assert_eq!(activities.counts(), Counts { closing: 1, ..none });
        activities.change(Some(Activity::Closing), None);
        assert_eq!(activities.counts(), none);
    }
}
