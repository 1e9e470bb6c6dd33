use std::{fmt, pin::Pin, time::Duration};

use article_webhook::{ArticleResult, JobId};
use backon::BackoffBuilder;
use bytes::Bytes;
use tokio::time::{sleep, timeout};

use crate::{
    Client, Complete, Error, JobStatus, Unfinished,
    error::Kind,
    retry::{Pauses, backoff, longer},
};

/// A future that waits for a job, by polling the service with pauses.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_client::{ApiKey, Client};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// // Nothing listens on port 1, so this job does not become complete.
/// let client = Client::new(ApiKey::new("sk-5f2b9c0e7a1d4e38")?, "http://127.0.0.1:1")?;
/// let result = client
///     .wait(&"job_7c1e4a52".parse()?)
///     .pauses(Duration::from_millis(1), Duration::from_millis(10))
///     .deadline(Duration::from_millis(100))
///     .on_progress(|job| println!("{:?}", job.status))
///     .await;
/// match result {
///     Ok(complete) => println!("{}", complete.result.article.title),
///     Err(error) => assert!(error.is_deadline()), // wait again later, or let the service deliver it
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it does nothing unless it is awaited"]
pub struct Wait<'a> {
    client: &'a Client,
    job_id: JobId,
    deadline: Duration,
    pauses: Pauses,
    progress: Box<dyn FnMut(&Unfinished) + Send + 'a>,
}

impl Client {
    /// Waits until a job is complete. After a [transient](Error::is_transient) error it polls again.
    ///
    /// An article that may be a [draft](crate::CallOutcome::Draft) counts if a response a minute later has the same bytes.
    ///
    /// # Errors
    ///
    /// The errors of the service (`job_not_found`, `generation_failed`), another
    /// [word](crate::CallOutcome::FailedState) for a failure in two responses in a row, the deadline has passed, or the
    /// first pause is longer than the longest.
    pub fn wait(&self, job_id: &JobId) -> Wait<'_> {
        Wait {
            client: self,
            job_id: job_id.clone(),
            deadline: Duration::from_secs(3600),
            pauses: Pauses { first: Duration::from_secs(2), longest: Duration::from_secs(30) },
            progress: Box::new(|_| ()),
        }
    }
}

impl<'a> Wait<'a> {
    /// How long to wait in total: one hour unless set.
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The first and the longest pause between two calls: 2 s and 30 s unless set. Each pause is prolonged by a random
    /// time, at most its own length.
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        Self { pauses: Pauses { first, longest }, ..self }
    }

    /// Called for each response about a job that is not complete.
    pub fn on_progress(self, progress: impl FnMut(&Unfinished) + Send + 'a) -> Self {
        Self { progress: Box::new(progress), ..self }
    }

    async fn run(mut self) -> Result<Complete, Error> {
        self.pauses.validate()?;
        let mut last = Last { status: None, error: None };
        let deadline = self.deadline;
        let waiting = timeout(deadline, self.complete(&mut last)).await;
        let passed = |_| {
            let Last { status, error } = last;
            Err(Error::new(Kind::Deadline { status, last: error }))
        };
        waiting.unwrap_or_else(passed)
    }

    async fn complete(&mut self, last: &mut Last) -> Result<Complete, Error> {
        let mut unconfirmed = None;
        for pause in backoff(self.pauses).without_max_times().build() {
            let answer = self.client.article(&self.job_id).await;
            let unconfirmed_now = unconfirmed_part(&answer);
            let is_confirmed = unconfirmed_now.is_some() && unconfirmed_now == unconfirmed;
            let pause = match answer {
                Ok(JobStatus::Complete(complete)) => return Ok(*complete),
                Ok(JobStatus::Unfinished(Unfinished { body, .. })) if is_confirmed => {
                    let result = ArticleResult::from_json(&body);
                    return Ok(Complete { result: result.expect("a draft was decoded"), body });
                }
                Ok(JobStatus::Unfinished(unfinished)) => {
                    (self.progress)(&unfinished);
                    unconfirmed = unconfirmed_now;
                    let pause = longer(pause, unfinished.retry_after);
                    let draft_pause = unfinished.is_draft.then_some(DRAFT_PAUSE);
                    *last = Last { status: unfinished.status, error: None };
                    longer(pause, draft_pause)
                }
                Err(error) if error.is_transient() => {
                    let pause = longer(pause, error.retry_after());
                    last.error = Some(error);
                    pause
                }
                Err(error) if unconfirmed_now.is_some() && !is_confirmed => {
                    unconfirmed = unconfirmed_now;
                    let pause = longer(pause, error.retry_after());
                    last.error = Some(error);
                    pause
                }
                Err(error) => return Err(error),
            };
            sleep(pause).await;
        }
        unreachable!("the pauses do not end")
    }
}

/// How long a draft must stay the same to be the article.
const DRAFT_PAUSE: Duration = Duration::from_secs(60);

/// As [`Response::unconfirmed`](crate::Response::unconfirmed).
fn unconfirmed_part(answer: &Result<JobStatus, Error>) -> Option<Bytes> {
    match answer {
        Ok(JobStatus::Unfinished(Unfinished { body, is_draft: true, .. })) => Some(body.clone()),
        Ok(_) => None,
        Err(error) => error.response()?.unconfirmed().map(Bytes::copy_from_slice),
    }
}

/// The result of the last calls, for the error at the deadline.
struct Last {
    status: Option<String>,
    error: Option<Error>,
}

impl<'a> IntoFuture for Wait<'a> {
    type Output = Result<Complete, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("job_id", &self.job_id)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
