use std::{fmt, pin::Pin, time::Duration};

use article_webhook::JobId;
use backon::BackoffBuilder;
use tokio::time::{sleep, timeout};

use crate::{
    Client, Complete, Error, Job, Unfinished,
    error::Kind,
    retry::{Pauses, backoff, heeding},
};

/// Waiting for a job: asks, pauses, asks again. Await it.
///
/// ```no_run
/// # async fn wait(client: article_client::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// let complete = client
///     .wait(&"job_7c1e4a52".parse()?)
///     .deadline(Duration::from_secs(600))
///     .on_progress(|job| println!("{:?}", job.status))
///     .await?;
/// println!("{}", complete.result.article.title);
/// # Ok(())
/// # }
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
    /// Waits until a job is complete. Errors that are [transient](Error::is_transient) are waited out.
    ///
    /// # Errors
    ///
    /// The service's own (`job_not_found`, `generation_failed`), or the deadline has passed.
    ///
    /// ```no_run
    /// # async fn wait(client: article_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let complete = client.wait(&"job_7c1e4a52".parse()?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(&self, job_id: &JobId) -> Wait<'_> {
        Wait {
            client: self,
            job_id: job_id.clone(),
            deadline: Duration::from_secs(3600),
            pauses: [Duration::from_secs(2), Duration::from_secs(30)],
            progress: Box::new(|_| ()),
        }
    }
}

impl<'a> Wait<'a> {
    /// How long to wait in all: an hour unless set.
    ///
    /// ```no_run
    /// # async fn wait(client: article_client::Client, job_id: article_client::JobId) {
    /// let result = client.wait(&job_id).deadline(std::time::Duration::from_secs(60)).await;
    /// # }
    /// ```
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The first and the longest pause between two questions: 2 s and 30 s unless set. To each, a drawn part of it
    /// is added.
    ///
    /// ```no_run
    /// # async fn wait(client: article_client::Client, job_id: article_client::JobId) {
    /// use std::time::Duration;
    ///
    /// let result = client.wait(&job_id).pauses(Duration::from_millis(100), Duration::from_secs(1)).await;
    /// # }
    /// ```
    pub fn pauses(self, first: Duration, longest: Duration) -> Self {
        Self { pauses: [first, longest], ..self }
    }

    /// What to do at each answer that is not complete.
    ///
    /// ```no_run
    /// # async fn wait(client: article_client::Client, job_id: article_client::JobId) {
    /// let result = client.wait(&job_id).on_progress(|job| println!("{:?}", job.status)).await;
    /// # }
    /// ```
    pub fn on_progress(self, progress: impl FnMut(&Unfinished) + Send + 'a) -> Self {
        Self { progress: Box::new(progress), ..self }
    }

    async fn run(mut self) -> Result<Complete, Error> {
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
        for pause in backoff(self.pauses).without_max_times().build() {
            let pause = match self.client.article(&self.job_id).await {
                Ok(Job::Complete(complete)) => return Ok(*complete),
                Ok(Job::Unfinished(unfinished)) => {
                    (self.progress)(&unfinished);
                    *last = Last { status: unfinished.status, error: None };
                    pause
                }
                Err(error) if error.is_transient() => {
                    let pause = heeding(&error, pause);
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

/// What the last questions came to, for the error at the deadline.
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
