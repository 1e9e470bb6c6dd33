use super::Row;
use crate::{ClockStep, State};

impl Row {
    /// The store's clock is set by this step. The times of an entry that waits or is leased move along, so that what is
    /// left of its pause or its lease stays the same. `false` if nothing changed.
    pub fn shift_times(&mut self, step: ClockStep) -> bool {
        let is_timed = matches!(self.state, State::Waiting | State::Leased);
        if is_timed {
            self.at = step.applied_to(self.at);
            self.since = step.applied_to(self.since);
        }
        is_timed
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_pause_and_a_lease_keep_what_is_left_of_them() {
        let (start, hour) =
            (SystemTime::UNIX_EPOCH + Duration::from_secs(360_000), Duration::from_secs(3600));
        for step in [ClockStep::Forward(hour), ClockStep::Back(hour)] {
            for state in State::ALL {
                let at = start + Duration::from_secs(10);
                let before = Row { state, at, ..Row::new(start) };
                let mut after = before.clone();
                let is_timed = matches!(state, State::Waiting | State::Leased);
                assert_eq!(after.shift_times(step), is_timed, "{state}");
                let expected = if is_timed {
                    let (at, since) = (step.applied_to(at), step.applied_to(start));
                    Row { at, since, ..before }
                } else {
                    before
                };
                assert_eq!(after, expected);
            }
        }
    }
}
