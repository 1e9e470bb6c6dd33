use std::time::Duration;

use article_webhook::JobId;
use tokio::{runtime::Handle, time::sleep};

use super::Inbox;
use crate::{
    call::{DELIVERY_PERIOD, Expect, Reason},
    telemetry,
    timestamp::later,
};

/// The first and the longest pause before a job is stored again.
const RETRY_PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// After this many jobs in a row that found damage, the writer ends. The next refused delivery tries the jobs behind them.
const MAX_DAMAGED_IN_A_ROW: usize = 16;

impl Inbox {
    /// Expects a job whose delivery was refused, or could not be stored. It is polled after the service's last delivery,
    /// and kept in memory until the store has accepted it.
    pub(super) fn expect_refused(&self, job_id: JobId, intent: Option<&str>, code: &str) {
        self.expect_later([self.refused_job(job_id, intent, code)]);
    }

    /// The expectation of a job whose delivery was refused.
    pub(super) fn refused_job(&self, job_id: JobId, intent: Option<&str>, code: &str) -> Expect {
        let (reason, intent) = (Reason::Refused { code: code.into() }, intent.map(Into::into));
        let at = later(self.0.store.now(), DELIVERY_PERIOD);
        Expect { job_id, reason, intent, at, key: None }
    }

    /// Expects jobs as soon as the store accepts them.
    pub(super) fn expect_later(&self, jobs: impl IntoIterator<Item = Expect>) {
        let mut queue = self.expect_queue();
        // Each job is added.
        let starts = jobs.into_iter().fold(false, |starts, job| queue.push(job) | starts);
        queue.keep(|jobs| self.0.store.keep(jobs));
        drop(queue);
        if starts {
            self.start_expect_writer();
        }
    }

    /// Expects the jobs that the last process kept, as soon as the store is open.
    pub(super) fn expect_kept(&self) {
        let kept = self.0.store.kept();
        let mut queue = self.expect_queue();
        let starts = match kept {
            Some(kept) => queue.add_kept(kept),
            None => queue.needs_writer(),
        };
        drop(queue);
        if starts {
            self.start_expect_writer();
        }
    }

    fn start_expect_writer(&self) {
        match Handle::try_current() {
            Ok(runtime) => {
                let writer = ExpectWriter { inbox: self.clone(), is_done: false };
                drop(runtime.spawn(writer.run()));
            }
            Err(_) => self.expect_queue().release(),
        }
    }
}

/// The task that stores jobs with a refused delivery. If it is dropped before its work is done, because its runtime ends or
/// the store panics, the next job starts another.
struct ExpectWriter {
    inbox: Inbox,
    is_done: bool,
}

impl ExpectWriter {
    /// Runs until no job is left, or the store accepts none.
    async fn run(mut self) {
        let inbox = self.inbox.clone();
        if !inbox.expect_queue().has_kept() {
            if let Err(error) = inbox.0.store.opened().await {
                return telemetry::store_failed("expect", &error);
            }
            let kept = inbox.0.store.kept().unwrap_or_default();
            inbox.expect_queue().add_kept(kept);
        }
        let [mut pause, longest] = RETRY_PAUSES;
        let mut damaged = 0;
        loop {
            // A job is not erased between its taking and its storing.
            let expecting = inbox.0.expecting.write().await;
            let next = inbox.expect_queue().next();
            let Some(mut expect) = next else {
                inbox.expect_queue().keep(|jobs| inbox.0.store.keep(jobs));
                self.is_done = true;
                return;
            };
            // The clock may have been set back while the job was kept in memory.
            expect.at = expect.at.min(later(inbox.0.store.now(), DELIVERY_PERIOD));
            let stored = inbox.0.store.expect(vec![expect]).await;
            match &stored {
                Ok(_) => inbox.expect_queue().stored(),
                Err(error) if error.is_damaged() => inbox.expect_queue().postpone(),
                Err(_) => {}
            }
            drop(expecting);
            match stored {
                Ok(_) => ([pause, _], damaged) = (RETRY_PAUSES, 0),
                // The damage may be that of one row: the other jobs do not wait for it.
                Err(error) if error.is_damaged() => {
                    telemetry::store_failed("expect", &error);
                    damaged += 1;
                    if damaged >= inbox.expect_queue().len().min(MAX_DAMAGED_IN_A_ROW) {
                        return;
                    }
                }
                Err(error) if error.is_transient() => {
                    telemetry::store_failed("expect", &error);
                    sleep(pause).await;
                    pause = (pause * 2).min(longest);
                }
                Err(error) => return telemetry::store_failed("expect", &error),
            }
        }
    }
}

impl Drop for ExpectWriter {
    fn drop(&mut self) {
        if !self.is_done {
            self.inbox.expect_queue().release();
        }
    }
}
