use std::{sync::Arc, time::Duration};

use serde::Serialize;

use crate::{
    Step,
    articles::Length,
    service::{brand::Target, pipeline::Timetable},
};

/// A job, as the service sees it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_simulator::{JobState, Simulator};
///
/// let simulator = Simulator::builder().brand("brand_1").start().await?;
/// let job = simulator.order("Shoes").await?;
/// assert_eq!(job.state, JobState::Queued);
/// assert_eq!(simulator.jobs(), [job]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // more may be told of it
pub struct Job {
    /// By which it is delivered and asked for.
    pub job_id: String,
    /// What was ordered.
    pub topic: String,
    /// How far it is.
    pub state: JobState,
    /// When it was ordered, since the start.
    pub ordered_at: Duration,
    /// When it is complete, or fails, since the start.
    pub ends_at: Duration,
}

/// How far a job is. The document names only `complete`.
///
/// ```
/// use article_simulator::{JobState, Step};
///
/// assert_ne!(JobState::Running(Step::Draft), JobState::Failed(Step::Draft));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for the pipeline.
    Queued,
    /// It is at that step of the pipeline.
    Running(Step),
    /// Its article is there, and is delivered.
    Complete,
    /// It failed at that step, and its credits were refunded. Nothing is delivered.
    Failed(Step),
}

/// What is kept of a job: enough to draw all else from the seed.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) account: usize,
    pub(crate) brand: usize,
    pub(crate) topic: Arc<str>,
    pub(crate) length: Length,
    pub(crate) webhook: Option<Arc<Target>>,
    pub(crate) ordered_at: Duration,
    pub(crate) fails_at: Option<Step>,
    pub(crate) price: u64,
    pub(crate) is_over: bool,
}

impl Record {
    pub(crate) fn ends_at(&self, timetable: &Timetable) -> Duration {
        let end = self.fails_at.map_or_else(|| timetable.end(), |step| timetable.end_of(step));
        self.ordered_at.saturating_add(end)
    }

    pub(crate) fn state(&self, now: Duration, timetable: &Timetable) -> JobState {
        match (self.is_over, self.fails_at) {
            (true, Some(step)) => JobState::Failed(step),
            (true, None) => JobState::Complete,
            (false, _) => {
                let step = timetable.step_at(now.saturating_sub(self.ordered_at));
                step.map_or(JobState::Queued, JobState::Running)
            }
        }
    }
}

/// How jobs are numbered: ids tell the seed, so that those of two simulators do not meet in one receiver.
#[derive(Debug)]
pub(crate) struct Ids {
    start: String,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        let mark = crate::draw::draw(seed, &[IDS]).u32(..);
        Self { start: format!("job_{mark:08x}_") }
    }

    pub(crate) fn id(&self, job: usize) -> String {
        format!("{}{}", self.start, job + 1)
    }

    pub(crate) fn job(&self, id: &str) -> Option<usize> {
        let job = id.strip_prefix(&self.start)?.parse::<usize>().ok()?.checked_sub(1)?;
        (self.id(job) == id).then_some(job)
    }
}

/// Tells its draws from those of others.
const IDS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_leads_back_to_its_job_and_nothing_else_does() {
        let ids = Ids::new(7);
        for job in [0, 1, 999_999] {
            assert_eq!(ids.job(&ids.id(job)), Some(job));
        }
        let first = ids.id(0);
        for other in [
            "",
            "job_1",
            &first.replace("_1", "_01"),
            &first.replace("_1", "_0"),
            &first.replace("_1", "_+1"),
            &first.to_uppercase(),
            &Ids::new(8).id(0),
        ] {
            assert_eq!(ids.job(other), None, "{other}");
        }
    }
}
