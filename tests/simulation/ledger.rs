//! What the harness looks up about the calls of the ledger.

use std::time::Duration;

use article_webhook_inbox::{
    Error, JobState, Reason,
    store::{Expect, Store},
};

use crate::{observed::Observed, store::Connection};

/// What a job that is expected was before.
#[derive(Clone, Copy)]
pub(crate) enum Opened {
    /// It is new, or had ended without an article, and is polled after this pause.
    Now(Duration),
    /// It is open, and polled after this pause at the latest.
    Before(Duration),
    Not,
}

impl Connection {
    pub(crate) async fn opened(&self, expect: &Expect) -> Result<Opened, Error> {
        let job = self.world.store.job(expect.job_id.clone()).await?;
        let pause = expect.at.duration_since(self.world.time()).unwrap_or_default();
        let is_backfill = expect.reason == Reason::Backfill;
        let leaves_backfill =
            job.as_ref().is_some_and(|job| job.reason == Reason::Backfill) && !is_backfill;
        let is_refused = matches!(expect.reason, Reason::Refused { .. });
        Ok(match job.map(|job| job.state) {
            None => Opened::Now(pause),
            Some(state) if state.is_open() && (is_refused || leaves_backfill) => {
                Opened::Before(pause)
            }
            Some(state) if state.is_open() || state.has_article() || is_backfill => Opened::Not,
            Some(_) => Opened::Now(pause),
        })
    }

    /// How long the job waits of which a poll has ended.
    pub(crate) async fn waits(&self, id: i64) {
        let row = self.world.with(|inner| inner.observed.rows.get(&id).cloned());
        let Some(job_id) = row.and_then(|poll| poll.job.parse().ok()) else { return };
        let Ok(Some(job)) = self.world.store.job(job_id).await else { return };
        let now = self.world.time();
        // After a body that cannot be read, or the article of a job in doubt, the pause is an hour.
        let is_given = job.unreadable_since.or(job.collected_at).is_some();
        let polls = if is_given { u32::MAX } else { job.polls };
        if job.state == JobState::Expected && polls > 0 {
            let wait = job.at.duration_since(now).unwrap_or_default();
            let expected_for = now.duration_since(job.expected_at).unwrap_or_default();
            let id = job.job_id.as_str();
            self.world.seen(|_, _| Observed::waits(id, wait, polls, expected_for));
        }
    }
}
