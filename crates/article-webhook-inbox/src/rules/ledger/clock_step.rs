use super::{Bucket, IntentRow, JobRow};
use crate::{
    ClockStep,
    call::{IntentState, Missing},
};

impl JobRow {
    /// The store's clock is set by this step. The times of an open job move along, so that what is left of its pause or of
    /// its lease stays the same, and it is not overdue, missing or unreadable for longer than it was. `false` if nothing changed.
    pub fn shift_times(&mut self, step: ClockStep) -> bool {
        let is_open = self.state.is_open();
        if is_open {
            self.at = step.applied_to(self.at);
            self.expected_at = step.applied_to(self.expected_at);
            let moved =
                |missing: Missing| Missing { since: step.applied_to(missing.since), ..missing };
            self.missing = self.missing.map(moved);
            self.unreadable_since = self.unreadable_since.map(|at| step.applied_to(at));
        }
        is_open
    }
}

impl IntentRow {
    /// The store's clock is set by this step. The deadline of a call moves along. `false` if nothing changed.
    pub fn shift_times(&mut self, step: ClockStep) -> bool {
        let is_timed = self.state == IntentState::Ordering;
        if is_timed {
            self.at = step.applied_to(self.at);
        }
        is_timed
    }
}

impl Bucket {
    /// The store's clock is set by this step. All times move along.
    pub fn shift_times(&mut self, step: ClockStep) {
        self.refilled_at = step.applied_to(self.refilled_at);
        self.shared_at = step.applied_to(self.shared_at);
        self.refused_at = self.refused_at.map(|at| step.applied_to(at));
        for (since, until) in self.pauses() {
            (*since, *until) = (step.applied_to(*since), step.applied_to(*until));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::call::{BucketEvent, BucketSettings, Expect, JobState};

    const HOUR: Duration = Duration::from_secs(3600);

    fn start() -> SystemTime {
        SystemTime::UNIX_EPOCH + HOUR * 100
    }

    #[test]
    fn an_open_job_keeps_what_is_left_of_its_pause() {
        for (step, moved) in
            [(ClockStep::Forward(HOUR), start() + HOUR), (ClockStep::Back(HOUR), start() - HOUR)]
        {
            for state in JobState::ALL {
                let missing = Some(Missing { times: 2, since: start() });
                let expect = Expect::job("job_1".parse().unwrap(), start());
                let unreadable_since = Some(start());
                let new = JobRow::new(&expect, None, start());
                let before = JobRow { state, missing, unreadable_since, ..new };
                let mut after = before.clone();
                assert_eq!(after.shift_times(step), state.is_open(), "{state}");
                let missing = Some(Missing { times: 2, since: moved });
                let expected = JobRow {
                    at: moved,
                    expected_at: moved,
                    missing,
                    unreadable_since: Some(moved),
                    ..before.clone()
                };
                assert_eq!(after, if state.is_open() { expected } else { before }, "{state}");
            }
        }
    }

    #[test]
    fn the_deadline_of_a_call_moves_along() {
        let mut row = IntentRow::new(HOUR, start());
        assert!(row.shift_times(ClockStep::Forward(HOUR)));
        assert_eq!(row.state_at(start() + HOUR), IntentState::Ordering);
        assert!(row.resolve(&"job_1".parse().unwrap(), start()));
        assert!(!row.shift_times(ClockStep::Forward(HOUR)));
    }

    #[test]
    fn a_bucket_gains_nothing_by_a_step() {
        let settings = BucketSettings { per_minute: 60, burst: 5, key: 1 };
        let mut bucket = Bucket::new(start());
        assert!(bucket.take(settings, start()));
        bucket.report(BucketEvent::RateLimited { retry_after: HOUR }, start());
        bucket.report(BucketEvent::KeyRefused { key: 1 }, start());
        let before = bucket.clone();
        bucket.shift_times(ClockStep::Forward(HOUR));
        assert_eq!(bucket.refilled_at, start() + HOUR);
        assert_eq!(bucket.limited.map(|pause| pause.until), Some(start() + 2 * HOUR));
        assert_eq!(bucket.refused[0].since, start() + HOUR);
        bucket.shift_times(ClockStep::Back(HOUR));
        assert_eq!(bucket, before);
    }
}
