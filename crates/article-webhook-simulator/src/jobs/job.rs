use std::time::Duration;

use serde::Serialize;

use crate::Step;

/// A job of the service.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use article_webhook_simulator::{SimulatedJobState, Simulator};
///
/// let simulator = Simulator::builder().brand("brand_1").start().await?;
/// let job = simulator.order("Shoes").await?;
/// assert_eq!(job.state, SimulatedJobState::Queued);
/// assert_eq!(simulator.jobs(), [job]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive] // a job may get more details
pub struct SimulatedJob {
    /// The id of the job, in its delivery and in calls of the API.
    pub job_id: String,
    /// The topic of the order.
    pub topic: String,
    /// The state of the job.
    pub state: SimulatedJobState,
    /// When it was ordered, in simulated time since the start.
    pub ordered_at: Duration,
    /// When it is complete or fails, in simulated time since the start.
    pub ends_at: Duration,
}

/// The state of a job. The document names only `complete` (service document, section 3).
///
/// ```
/// use article_webhook_simulator::{SimulatedJobState, Step};
///
/// assert_ne!(SimulatedJobState::Running(Step::Draft), SimulatedJobState::Failed(Step::Draft));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive] // the service may have further states
pub enum SimulatedJobState {
    /// The job waits for the pipeline.
    Queued,
    /// The job is at this step of the pipeline.
    Running(Step),
    /// The article is complete, and is being delivered.
    Complete,
    /// The job failed at this step, and the credits were refunded. Nothing is delivered.
    Failed(Step),
}
