use std::{
    mem,
    time::{Duration, Instant},
};

use article_webhook::JobId;

use crate::Error;

/// How long a stored delivery, or a probe that succeeded, shows that the store is ready.
const READY_FOR: Duration = Duration::from_secs(10);

/// How long a probe that failed shows that the store is not ready.
const NOT_READY_FOR: Duration = Duration::from_secs(1);

/// How long failed deliveries count more than a probe that succeeds: the probe does not meet what they meet. Not for ever, because
/// a balancer that takes the receiver out sends nothing that could succeed.
const FAILURES_COUNT_FOR: Duration = Duration::from_secs(30);

/// Whether the store is ready for deliveries, by those that came last and by probes. It limits probes to one in ten seconds, and
/// to one a second while they fail, however often health is read.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    /// What was found last, and until when it is used.
    last: Option<(Instant, Result<(), Error>)>,
    failing: Option<Failing>,
    /// Whether the last probe failed.
    probe_failed: bool,
}

/// The deliveries that failed since one was stored.
#[derive(Debug)]
struct Failing {
    since: Instant,
    first: JobId,
    /// Why the last one failed, once another job than the first did.
    why: Option<Error>,
    /// Whether a probe failed too, and so is good to show that the cause is gone.
    seen_by_probe: bool,
}

impl Readiness {
    /// What is known. `None` if it is too old: the store must be probed.
    pub(crate) fn known(&self, now: Instant) -> Option<Result<(), Error>> {
        let (until, result) = self.last.as_ref()?;
        (now < *until).then(|| result.clone())
    }

    /// A delivery was stored.
    pub(crate) fn stored(&mut self, now: Instant) {
        self.failing = None;
        self.last = Some((now + READY_FOR, Ok(())));
    }

    /// A delivery could not be stored. A single job may have a cause of its own, such as an entry that is locked: then the next
    /// probe decides. Two show that the store is not ready.
    pub(crate) fn failed(&mut self, now: Instant, job_id: &JobId, why: &Error) {
        let failing = self.failing.get_or_insert_with(|| Failing {
            since: now,
            first: job_id.clone(),
            why: None,
            seen_by_probe: false,
        });
        if failing.first != *job_id && now < failing.since + FAILURES_COUNT_FOR {
            failing.why = Some(why.clone());
            self.last = Some((now + NOT_READY_FOR, Err(why.clone())));
        } else if self.last.as_ref().is_some_and(|(_, last)| last.is_ok()) {
            self.last = None;
        }
    }

    /// The store was probed. Returns whether the probe before ended otherwise.
    pub(crate) fn probed(&mut self, now: Instant, result: Result<(), Error>) -> bool {
        let probe_failed = result.is_err();
        let unseen = self.failing.as_ref().filter(|failing| !failing.seen_by_probe);
        let unseen = unseen
            .and_then(|failing| Some((failing.since + FAILURES_COUNT_FOR, failing.why.clone()?)));
        self.last = Some(match (result, unseen) {
            (Ok(()), Some((until, why))) if now < until => (until, Err(why)),
            (Ok(()), _) => {
                self.failing = None;
                (now + READY_FOR, Ok(()))
            }
            (Err(error), _) => {
                self.failing.iter_mut().for_each(|failing| failing.seen_by_probe = true);
                (now + NOT_READY_FOR, Err(error))
            }
        });
        mem::replace(&mut self.probe_failed, probe_failed) != probe_failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u32) -> JobId {
        format!("job_{number}").parse().unwrap()
    }

    fn down() -> Error {
        Error::unavailable("the store is down")
    }

    fn known(readiness: &Readiness, now: Instant) -> Option<Result<(), String>> {
        readiness.known(now).map(|known| known.map_err(|error| error.to_string()))
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_job_that_fails_leads_to_a_probe_and_two_to_a_store_that_is_not_ready() {
        let (mut readiness, now) = (Readiness::default(), Instant::now());
        readiness.stored(now);
        readiness.failed(now, &job(1), &down());
        readiness.failed(now, &job(1), &down());
        assert_eq!(known(&readiness, now), None, "its entry may be locked");
        readiness.failed(now + SECOND, &job(2), &down());
        assert!(readiness.known(now + SECOND).is_some_and(|known| known.is_err()));
        assert_eq!(known(&readiness, now + SECOND * 2), None, "a probe follows");
    }

    #[test]
    fn a_probe_that_does_not_meet_what_deliveries_meet_is_believed_after_half_a_minute() {
        let (mut readiness, now) = (Readiness::default(), Instant::now());
        readiness.failed(now, &job(1), &down());
        readiness.failed(now, &job(2), &down());
        readiness.probed(now + SECOND, Ok(()));
        let is_down = Some(Err("the store is down".to_owned()));
        assert_eq!(known(&readiness, now + SECOND * 29), is_down);
        assert_eq!(known(&readiness, now + SECOND * 30), None);
        readiness.probed(now + SECOND * 30, Ok(()));
        assert_eq!(known(&readiness, now + SECOND * 31), Some(Ok(())));
    }
}
