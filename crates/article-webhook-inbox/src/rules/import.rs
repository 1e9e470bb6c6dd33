use std::time::SystemTime;

use super::Row;
use crate::{
    Entry, State,
    entry::{Failure, MAX_FAILURES_PER_ENTRY},
    timestamp::rounded,
};

impl Row {
    /// The row of an entry that another store exported. A lease of that store is not valid here, so a leased entry
    /// waits, due now.
    #[must_use]
    pub fn import(entry: &Entry, now: SystemTime) -> Self {
        let (state, at, since) = match entry.state {
            State::Leased => (State::Waiting, now, now),
            state => (state, rounded(entry.at), rounded(entry.since)),
        };
        let excess = entry.failures.len().saturating_sub(MAX_FAILURES_PER_ENTRY);
        let failures = entry.failures[excess..].iter();
        Self {
            state,
            attempts: entry.attempts,
            fence: 0,
            at,
            since,
            interrupted: 0,
            conflicts: entry.conflicts,
            // What is done failed no more.
            cause: entry.cause.clone().filter(|_| state != State::Done),
            failures: failures
                .cloned()
                .map(|failure| Failure { at: rounded(failure.at), ..failure })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::EntryKey;

    #[test]
    fn only_a_lease_is_lost_on_the_way() {
        let (start, now) =
            (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(9));
        for state in State::ALL {
            let there = Row { state, attempts: 2, fence: 5, conflicts: 1, ..Row::new(start) };
            let entry = there.clone().into_entry(
                7,
                EntryKey::article("job_1".parse().unwrap()),
                start,
                "blog".into(),
            );
            let expected = match state {
                State::Leased => {
                    Row { state: State::Waiting, at: now, since: now, fence: 0, ..there }
                }
                _ => Row { fence: 0, ..there },
            };
            assert_eq!(Row::import(&entry, now), expected, "{state}");
        }
    }
}
