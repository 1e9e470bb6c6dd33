use article_webhook_inbox::{Failed, Job};

/// An application with one of the drivers. Its table `articles` allows more than one row of a job.
pub(crate) trait Application: Clone + Send + Sync + 'static {
    fn connect(url: &str) -> impl Future<Output = Self> + Send;

    /// Inserts the article and completes the job, or does neither. Between the two something else happens.
    fn publish(
        &self,
        job: &Job,
        between: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<(), Failed>> + Send;
}
