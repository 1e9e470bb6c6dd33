use std::time::{Duration, Instant};

use article_webhook::JobId;

/// How long a stored delivery, or a probe that succeeded, shows that the store is ready.
const READY_FOR: Duration = Duration::from_secs(10);

/// How long a probe that failed shows that the store is not ready.
const NOT_READY_FOR: Duration = Duration::from_secs(1);

/// How long failed deliveries alone show that. A balancer that takes the receiver out sends nothing that could succeed.
const FAILURES_COUNT_FOR: Duration = Duration::from_secs(30);

/// Whether the store is ready for deliveries, by those that came last and by probes. It limits probes to one in ten seconds, and
/// to one a second while they fail, however often health is read.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    /// What was found last, and until when it is used.
    last: Option<(Instant, Result<(), String>)>,
    /// The first of the deliveries that failed since one was stored.
    failed: Option<(Instant, JobId)>,
}

impl Readiness {
    /// What is known. `None` if it is too old: the store must be probed.
    pub(crate) fn known(&self, now: Instant) -> Option<Result<(), String>> {
        let (until, result) = self.last.as_ref()?;
        (now < *until).then(|| result.clone())
    }

    /// A delivery was stored.
    pub(crate) fn stored(&mut self, now: Instant) {
        self.failed = None;
        self.last = Some((now + READY_FOR, Ok(())));
    }

    /// A delivery could not be stored. A single job may have a cause of its own, such as an entry that is locked: then the next
    /// probe decides. Two show that the store is not ready.
    pub(crate) fn failed(&mut self, now: Instant, job_id: &JobId, why: &str) {
        let (since, first) = self.failed.get_or_insert_with(|| (now, job_id.clone()));
        let until = *since + FAILURES_COUNT_FOR;
        if first != job_id && now < until {
            self.last = Some((until, Err(why.to_owned())));
        } else if self.last.as_ref().is_some_and(|(_, last)| last.is_ok()) {
            self.last = None;
        }
    }

    /// The store was probed.
    pub(crate) fn probed(&mut self, now: Instant, result: Result<(), String>) {
        if result.is_ok() {
            self.failed = None;
        }
        let used_for = if result.is_ok() { READY_FOR } else { NOT_READY_FOR };
        self.last = Some((now + used_for, result));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u32) -> JobId {
        format!("job_{number}").parse().unwrap()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_success_is_used_for_ten_seconds_and_a_failure_for_one() {
        let (mut readiness, now) = (Readiness::default(), Instant::now());
        assert_eq!(readiness.known(now), None);
        readiness.probed(now, Ok(()));
        assert_eq!(readiness.known(now + SECOND * 9), Some(Ok(())));
        assert_eq!(readiness.known(now + READY_FOR), None);
        readiness.probed(now, Err("the disk is full".to_owned()));
        assert!(readiness.known(now).is_some_and(|known| known.is_err()));
        assert_eq!(readiness.known(now + NOT_READY_FOR), None);
    }

    #[test]
    fn a_stored_delivery_needs_no_probe() {
        let (mut readiness, now) = (Readiness::default(), Instant::now());
        readiness.probed(now, Err("the disk is full".to_owned()));
        readiness.stored(now);
        assert_eq!(readiness.known(now + SECOND * 9), Some(Ok(())));
    }

    #[test]
    fn one_job_that_fails_leads_to_a_probe_and_two_to_a_store_that_is_not_ready() {
        let (mut readiness, now) = (Readiness::default(), Instant::now());
        readiness.stored(now);
        readiness.failed(now, &job(1), "locked");
        readiness.failed(now, &job(1), "locked");
        assert_eq!(readiness.known(now), None, "its entry may be locked");
        readiness.failed(now + SECOND, &job(2), "the disk is full");
        let full = Some(Err("the disk is full".to_owned()));
        assert_eq!(readiness.known(now + SECOND * 29), full);
        assert_eq!(readiness.known(now + SECOND * 30), None, "from now on a probe decides");
    }

    #[test]
    fn after_half_a_minute_of_failures_the_probe_alone_decides() {
        let (mut readiness, now) = (Readiness::default(), Instant::now());
        readiness.failed(now, &job(1), "down");
        readiness.failed(now + SECOND * 31, &job(2), "down");
        assert_eq!(readiness.known(now + SECOND * 31), None);
        readiness.probed(now + SECOND * 31, Ok(()));
        assert_eq!(readiness.known(now + SECOND * 32), Some(Ok(())));
        readiness.failed(now + SECOND * 32, &job(1), "down");
        readiness.failed(now + SECOND * 32, &job(2), "down");
        assert!(readiness.known(now + SECOND * 32).is_some_and(|known| known.is_err()), "anew");
    }
}
