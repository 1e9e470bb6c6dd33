use std::{sync::Arc, time::Duration};

use super::job::SimulatedJobState;
use crate::{Step, Target, pipeline::Timetable};

/// What is stored of a job. Everything else is drawn from the seed.
#[derive(Debug)]
pub(crate) struct JobRecord {
    pub(crate) account: usize,
    pub(crate) brand: usize,
    pub(crate) topic: Arc<str>,
    /// About how many bytes of HTML the article has; drawn if `None`.
    pub(crate) html_bytes: Option<usize>,
    pub(crate) webhook: Option<Arc<Target>>,
    pub(crate) ordered_at: Duration,
    pub(crate) fails_at: Option<Step>,
    pub(crate) price: u64,
    pub(crate) is_over: bool,
}

impl JobRecord {
    pub(crate) fn ends_at(&self, timetable: &Timetable) -> Duration {
        let end = self.fails_at.map_or_else(|| timetable.end(), |step| timetable.end_of(step));
        self.ordered_at.saturating_add(end)
    }

    pub(crate) fn state(&self, now: Duration, timetable: &Timetable) -> SimulatedJobState {
        match (self.is_over, self.fails_at) {
            (true, Some(step)) => SimulatedJobState::Failed(step),
            (true, None) => SimulatedJobState::Complete,
            (false, _) => {
                let step = timetable.step_at(now.saturating_sub(self.ordered_at));
                step.map_or(SimulatedJobState::Queued, SimulatedJobState::Running)
            }
        }
    }
}
