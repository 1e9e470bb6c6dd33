use std::time::{Duration, SystemTime};

use super::{Row, row::Cause};
use crate::{Digest, MAX_BODIES, State, call::Recorded};

/// The decision about a new body of an existing entry.
///
/// ```
/// use std::time::SystemTime;
/// use article_inbox::{Digest, store::{BodyWrite, Recorded, Row}};
///
/// let now = SystemTime::now();
/// let mut entry = Row::new(now);
/// let stored = [Digest::of(b"{}")];
/// let repeated = entry.record(Digest::of(b"{}"), &stored, now);
/// assert_eq!((repeated.recorded, repeated.write), (Recorded::Duplicate, BodyWrite::Nothing));
/// assert!(!repeated.changes_row());
///
/// let other = entry.record(Digest::of(b"[]"), &stored, now);
/// assert_eq!((other.recorded, other.write), (Recorded::Conflict { kept: true }, BodyWrite::Append));
/// assert!(other.changes_row());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store obeys every field")]
pub struct Recording {
    /// What the store returns.
    pub recorded: Recorded,
    /// What the store writes besides the row.
    pub write: BodyWrite,
}

/// What a store does with the bytes of a body.
///
/// ```
/// use std::time::SystemTime;
/// use article_inbox::{Digest, State, store::{BodyWrite, Row}};
///
/// let now = SystemTime::now();
/// let mut damaged = Row { state: State::Corrupt, ..Row::new(now) };
/// let stored = [Digest::of(b"[]"), Digest::of(b"{}")];
/// assert_eq!(damaged.record(Digest::of(b"{}"), &stored, now).write, BodyWrite::Repair(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store that forgets a write must not compile")]
pub enum BodyWrite {
    /// Nothing is written.
    Nothing,
    /// The body is added after the others.
    Append,
    /// The body replaces the one at this index.
    Replace(usize),
    /// The bytes replace those at this index. The other fields of that body stay.
    Repair(usize),
}

impl Recording {
    /// Whether the row changed and must be saved.
    #[must_use]
    pub fn changes_row(&self) -> bool {
        !matches!(self.recorded, Recorded::Duplicate | Recorded::Crowded)
    }
}

impl Row {
    /// Decides about a new body. `stored` has the digests of the entry's bodies, in order.
    pub fn record(&mut self, digest: Digest, stored: &[Digest], now: SystemTime) -> Recording {
        let recording = |recorded, write| Recording { recorded, write };
        if let Some(index) = stored.iter().position(|stored| *stored == digest) {
            if self.state != State::Corrupt {
                return recording(Recorded::Duplicate, BodyWrite::Nothing);
            }
            self.wait(Duration::ZERO, Cause::None, now);
            return recording(Recorded::Stored, BodyWrite::Repair(index));
        }

        let is_full = stored.len() >= MAX_BODIES;
        if let State::Unhandled | State::Corrupt = self.state {
            self.conflicts = self.conflicts.saturating_add(1);
            self.wait(Duration::ZERO, Cause::None, now);
            let write =
                if is_full { BodyWrite::Replace(stored.len() - 1) } else { BodyWrite::Append };
            return recording(Recorded::Stored, write);
        }
        if is_full && !self.has_decoded() {
            return recording(Recorded::Crowded, BodyWrite::Nothing);
        }
        self.conflicts = self.conflicts.saturating_add(1);
        let write = if is_full { BodyWrite::Nothing } else { BodyWrite::Append };
        recording(Recorded::Conflict { kept: !is_full }, write)
    }

    /// Whether a worker has found a body that decodes.
    fn has_decoded(&self) -> bool {
        match self.state {
            State::Done | State::Dead => true,
            // A handler ran on one of the bodies, and failed.
            State::Waiting => self.cause.is_some(),
            State::Leased | State::Unhandled | State::Corrupt => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn row(state: State) -> Row {
        Row { state, cause: Some("a cause".into()), ..Row::new(NOW) }
    }

    fn digests(count: usize) -> Vec<Digest> {
        (0..count).map(|body| Digest::of(&[u8::try_from(body).unwrap()])).collect()
    }

    fn record(row: &mut Row, stored: usize) -> (Recorded, BodyWrite) {
        let Recording { recorded, write } = row.record(Digest::of(b"new"), &digests(stored), NOW);
        (recorded, write)
    }

    #[test]
    fn a_new_body_replaces_the_last_of_a_full_entry_that_none_was_good_enough_for() {
        for state in [State::Unhandled, State::Corrupt] {
            let mut row = row(state);
            assert_eq!(record(&mut row, 4), (Recorded::Stored, BodyWrite::Replace(3)));
            assert_eq!((row.state, row.conflicts, row.cause), (State::Waiting, 1, None));
        }
    }

    #[test]
    fn a_full_entry_with_a_body_that_decodes_counts_the_conflict_and_keeps_nothing() {
        for state in [State::Done, State::Dead, State::Waiting] {
            let mut row = row(state);
            let kept = Recorded::Conflict { kept: false };
            assert_eq!(record(&mut row, 4), (kept, BodyWrite::Nothing), "{state}");
            assert_eq!((row.state, row.conflicts), (state, 1));
        }
    }

    #[test]
    fn a_full_entry_of_which_no_body_is_known_to_decode_stays_as_it_is() {
        for before in [row(State::Leased), Row { cause: None, ..row(State::Waiting) }] {
            let mut after = before.clone();
            assert_eq!(record(&mut after, 4), (Recorded::Crowded, BodyWrite::Nothing));
            assert_eq!(after, before);
        }
    }

    #[test]
    fn a_duplicate_changes_no_row_but_a_corrupt_one() {
        for state in State::ALL {
            let before = row(state);
            let mut after = before.clone();
            let recording = after.record(digests(3)[2], &digests(3), NOW);
            assert_eq!(recording.changes_row(), after != before, "{state}");
            assert_eq!(recording.changes_row(), state == State::Corrupt, "{state}");
        }
    }
}
