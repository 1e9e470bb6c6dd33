use super::{Failed, UndecodableJob, Worker};

impl Worker {
    /// Also runs this handler, for each delivery that is no article to this version: its event is another, or no body of its
    /// entry decodes. Without this handler such an entry is [unhandled](crate::State::Unhandled), and costs no attempt. With
    /// it, everything holds that is said about articles: at least once, attempts, pauses, dead entries and time limits.
    ///
    /// It is for what passes deliveries on to an application that reads them by itself. Once the handler has succeeded the
    /// entry is done: another body of the job that comes later is kept, and not handed out.
    ///
    /// ```
    /// use article_webhook_inbox::{Failed, Inbox, State, UndecodableJob};
    /// use article_webhook::{Sink, fixture};
    ///
    /// async fn pass_on(job: UndecodableJob) -> Result<(), Failed> {
    ///     println!("{} of {}: {} bytes", job.event().as_str(), job.job_id(), job.body().len());
    ///     Ok(())
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let inbox = Inbox::memory();
    ///     let publish = |_| async { Ok(()) };
    ///     let retracted = fixture::complete().header("X-Service-Event", "article.retracted");
    ///     inbox.accept(retracted.delivery()?).await;
    ///     inbox.worker(publish).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Unhandled), 1, "no handler is for it");
    ///
    ///     let entry = inbox.list(Default::default()).await?.entries.remove(0);
    ///     inbox.requeue(entry.key).await?;
    ///     inbox.worker(publish).on_undecodable(pass_on).run_until_idle().await?;
    ///     assert_eq!(inbox.counts().await?.of(State::Done), 1);
    ///     Ok(())
    /// }
    /// ```
    pub fn on_undecodable<H, F>(mut self, handler: H) -> Self
    where
        H: Fn(UndecodableJob) -> F + Send + Sync + 'static,
        F: Future<Output = Result<(), Failed>> + Send + 'static,
    {
        self.handlers.on_undecodable(handler);
        self
    }
}
