//! Remembers when the API key was last known to read jobs, so that `job_not_found` from the key of another account ends no job.

use std::time::SystemTime;

use tokio::time::Instant;

use super::CallStart;

/// What the answers of this process show about its API key.
#[derive(Debug, Default)]
pub(crate) struct KeyWatch {
    /// When the last call began that showed that the service knew a job.
    knew: Option<CallStart>,
    /// When the last call began.
    last: Option<CallStart>,
    /// When the first call began after the clock of the store was set back.
    set_back: Option<Instant>,
}

impl KeyWatch {
    /// A call begins. If the clock of the store was set back, what the service knew before counts no more: it would be from
    /// a time to come.
    pub(crate) fn begins(&mut self, began: CallStart) {
        if self.last.replace(began).is_some_and(|last| began.is_set_back_since(last)) {
            (self.knew, self.set_back) = (None, Some(began.instant));
        }
    }

    /// The service knew a job of the key.
    pub(crate) fn knew(&mut self, began: CallStart) {
        let is_before = self.set_back.is_some_and(|set_back| began.instant < set_back);
        if !is_before && self.knew.is_none_or(|knew| knew.instant <= began.instant) {
            self.knew = Some(began);
        }
    }

    /// Whether the service has known another job since that time, and before it was polled in this call. A key of another
    /// environment knows none of them, and may have been in use until after this call began.
    pub(crate) fn has_known(&self, since: SystemTime, polled: CallStart) -> bool {
        let Some(knew) = self.knew else { return false };
        let Some(ago) = polled.instant.checked_duration_since(knew.instant) else { return false };
        // Both, because the clock of the store may have been set forward, and the other stands still while the machine is
        // suspended.
        since <= knew.store_time
            && polled.store_time.checked_sub(ago).is_some_and(|time| since <= time)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Calls that begin a second apart.
    fn calls() -> impl FnMut() -> CallStart {
        let (start, mut second) = (Instant::now(), 0);
        move || {
            second += 1;
            let passed = Duration::from_secs(second);
            CallStart { instant: start + passed, store_time: SystemTime::UNIX_EPOCH + passed }
        }
    }

    #[test]
    fn a_late_answer_to_an_old_call_changes_no_newer_decision() {
        let (mut watch, mut call) = (KeyWatch::default(), calls());
        let (old, newest) = (call(), call());
        watch.knew(newest);
        watch.knew(old);
        assert!(
            watch.has_known(newest.store_time, call()) && !watch.has_known(newest.store_time, old)
        );
    }

    #[test]
    fn what_was_known_before_a_clock_was_set_back_is_not_known_later() {
        let (mut watch, mut call) = (KeyWatch::default(), calls());
        let hour = Duration::from_secs(3600);
        let ahead = |began: CallStart| CallStart { store_time: began.store_time + hour, ..began };
        watch.knew(ahead(call()));
        let (since, polled) = (call().store_time, call());
        assert!(!watch.has_known(since, polled), "the clock is an hour behind now");
        watch.knew(call());
        assert!(watch.has_known(since, call()));
    }
}
