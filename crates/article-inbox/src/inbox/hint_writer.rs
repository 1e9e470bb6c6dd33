use std::time::Duration;

use article_webhook::JobId;
use tokio::{runtime::Handle, time::sleep};

use super::Inbox;
use crate::{call::Hint, telemetry};

/// The first and the longest pause before a hint is stored again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

impl Inbox {
    /// Keeps a hint in memory until the store has accepted it.
    pub(super) fn remember(&self, job_id: JobId, code: &str) {
        let hint = Hint { job_id, at: self.0.store.now(), code: code.into() };
        if !self.hint_queue().push(hint) {
            return;
        }
        match Handle::try_current() {
            Ok(runtime) => {
                let writer = HintWriter { inbox: self.clone(), is_done: false };
                drop(runtime.spawn(writer.run()));
            }
            Err(_) => self.hint_queue().release(),
        }
    }
}

/// The task that stores hints. If it is dropped before its work is done, because its runtime ends or the store panics, the
/// next hint starts another.
struct HintWriter {
    inbox: Inbox,
    is_done: bool,
}

impl HintWriter {
    /// Runs until no hint is left.
    async fn run(mut self) {
        let inbox = self.inbox.clone();
        let [mut pause, longest] = PAUSES;
        loop {
            let Some(hint) = inbox.hint_queue().next() else {
                self.is_done = true;
                return;
            };
            match inbox.0.store.hint(hint).await {
                Ok(()) => {
                    inbox.hint_queue().stored();
                    [pause, _] = PAUSES;
                }
                Err(error) if error.is_transient() => {
                    telemetry::store_failed("hint", &error);
                    sleep(pause).await;
                    pause = (pause * 2).min(longest);
                }
                Err(error) => return telemetry::store_failed("hint", &error),
            }
        }
    }
}

impl Drop for HintWriter {
    fn drop(&mut self) {
        if !self.is_done {
            self.inbox.hint_queue().release();
        }
    }
}
