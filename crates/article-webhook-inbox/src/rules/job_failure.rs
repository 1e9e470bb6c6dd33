use std::time::{Duration, SystemTime};

use super::{BodyWrite, JobRow, KnownBody, Recording, Row, row::Cause};
use crate::{
    State,
    call::{JobState, Recorded},
};

impl Row {
    /// Decides about a new body of the entry of a job's failure: what the service reports now takes the place of what it reported
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
