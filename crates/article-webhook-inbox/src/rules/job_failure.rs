use std::time::{Duration, SystemTime};

use super::{BodyWrite, JobRow, KnownBody, Recording, Row, row::Cause};
use crate::{
    State,
    call::{JobState, Recorded},
};

impl Row {
    /// Decides about a new body of the entry of a job's failure: what the service says now takes the place of what it said
    /// before, and is handed out, as if it were the first. The very answer that is stored already is recorded as
    /// [`record`](Self::record) says.
    pub fn record_failure(
        &mut self,
        new: KnownBody,
        stored: &[KnownBody],
        now: SystemTime,
    ) -> Recording {
        if stored.is_empty() || stored.iter().any(|body| body.digest == new.digest) {
            return self.record(new, stored, now);
        }
        (self.attempts, self.interrupted) = (0, 0);
        self.wait(Duration::ZERO, Cause::None, now);
        Recording { recorded: Recorded::Stored, write: BodyWrite::Replace(0) }
    }

    /// Whether the entry of a job's failure is removed when the job's article comes: no handler has ended with it.
    #[must_use]
    pub fn is_overtaken(&self) -> bool {
        matches!(self.state, State::Waiting | State::Leased)
    }
}

impl JobRow {
    /// Whether the article came, since the job was in this state: a failure of the job is [overtaken](Row::is_overtaken).
    #[must_use]
    pub fn has_arrived_since(&self, before: JobState) -> bool {
        !before.has_article() && self.state.has_article()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, Source};

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn body(text: &str) -> KnownBody {
        KnownBody {
            digest: Digest::of(text.as_bytes()),
            source: Source::Api,
            has_intent: false,
            is_by_capability: false,
        }
    }

    #[test]
    fn another_failure_is_handed_out_whatever_became_of_the_first() {
        for &state in State::ALL {
            let before = Row { state, attempts: 3, interrupted: 1, fence: 5, ..Row::new(NOW) };
            let mut row = before.clone();
            let recording = row.record_failure(body("b"), &[body("a")], NOW);
            let write = BodyWrite::Replace(0);
            assert_eq!(recording, Recording { recorded: Recorded::Stored, write });
            assert_eq!(row, Row { fence: 5, ..Row::new(NOW) }, "{state}");

            let mut same = before.clone();
            let recording = same.record_failure(body("a"), &[body("a")], NOW);
            assert_eq!(recording.changes_row(), state == State::Corrupt, "{state}");
        }
    }

    #[test]
    fn an_article_overtakes_a_failure_that_no_handler_has_ended_with() {
        for &state in State::ALL {
            let is_overtaken = Row { state, ..Row::new(NOW) }.is_overtaken();
            assert_eq!(is_overtaken, matches!(state, State::Waiting | State::Leased), "{state}");
        }
    }
}
