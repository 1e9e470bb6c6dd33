//! What is done with the entries of a page, and what became of each.

use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Entry, EntryKey, Error, Filter, Inbox, State};
use tokio::time::sleep;

/// How often a call is made while the inbox cannot take it. Each waits up to two seconds for other writers.
const ATTEMPTS: u32 = 3;

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub(crate) enum Change {
    Requeue,
    Discard { cause: String },
    Erase,
}

impl Change {
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Requeue => "requeue",
            Self::Discard { .. } => "discard",
            Self::Erase => "erase",
        }
    }

    pub(super) fn done(&self) -> &'static str {
        match self {
            Self::Requeue => "requeued",
            Self::Discard { .. } => "discarded",
            Self::Erase => "erased",
        }
    }

    /// The states of the entries that a filter without a state means.
    pub(super) fn states(&self) -> &'static [State] {
        match self {
            Self::Requeue => &[State::Dead, State::Unhandled, State::Corrupt],
            Self::Discard { .. } => &[State::Waiting, State::Unhandled, State::Corrupt],
            Self::Erase => State::ALL,
        }
    }

    /// What the help says of them.
    pub(crate) fn selection_help(&self) -> String {
        let names: Vec<_> = self.states().iter().map(|state| state.as_str()).collect();
        let (last, before) = names.split_last().expect("a change is for some state");
        let before = before.join(", ");
        format!("Filters without --state, and --all, select {before} and {last} entries.")
    }

    /// Changes the entries of a page, and says what became of each. A job is erased with all its entries. What has very large
    /// bodies takes more than one transaction. What is requeued remembers the time.
    pub(super) async fn apply(
        &self,
        mut page: Vec<Entry>,
        at: SystemTime,
        inbox: &Inbox,
        mut note: impl FnMut(Applied),
    ) -> Result<(), Error> {
        let store = inbox.ledger();
        if let Self::Erase = self {
            let mut selected = HashMap::new();
            for entry in page {
                *selected.entry(entry.key.job_id).or_default() += 1;
            }
            let mut jobs: Vec<_> = selected.keys().cloned().collect();
            while !jobs.is_empty() {
                let call = async || store.erase(jobs.clone()).await;
                let (erased, is_repeated) = retried(call).await?;
                for (job, entries) in jobs.drain(..erased.len()).zip(erased) {
                    // What a call has erased although it failed is not there when it is repeated.
                    let was_erased = is_repeated && entries == 0;
                    note(Applied::Changed(if was_erased { selected[&job] } else { entries }));
                }
            }
            return Ok(());
        }
        while !page.is_empty() {
            let call = async || match self {
                Self::Discard { cause } => {
                    let keys = page.iter().map(|entry| entry.key.clone()).collect();
                    store.discard(keys, cause.clone()).await
                }
                // One that has left its state since it was selected stays as it is: it may be done now.
                _ => {
                    let from = |entry: &Entry| (entry.key.clone(), Some(entry.state));
                    store.requeue(page.iter().map(from).collect(), at).await
                }
            };
            let (changed, _) = retried(call).await?;
            for (entry, is_changed) in page.drain(..changed.len()).zip(changed) {
                note(if is_changed {
                    Applied::Changed(1)
                } else {
                    self.left(entry, inbox).await?
                });
            }
        }
        Ok(())
    }

    async fn left(&self, entry: Entry, inbox: &Inbox) -> Result<Applied, Error> {
        let EntryKey { job_id, event } = entry.key;
        let (job_id, event) = (Some(job_id), Some(event));
        let one = Filter { job_id, event, limit: 1, ..Filter::default() };
        let now = inbox.list(one).await?.items.pop();
        Ok(Applied::Left(self.why_not(entry.state, now.map(|entry| entry.state))))
    }

    /// Why an entry was left as it is. It was in the one state when it was selected, and is in the other now.
    fn why_not(&self, was: State, now: Option<State>) -> &'static str {
        match (self, now) {
            (_, None) => GONE,
            (Self::Discard { .. }, _) => {
                "only a waiting, unhandled, corrupt or quarantined entry can be discarded"
            }
            (_, Some(State::Quarantined)) => "this version cannot read it either",
            (_, Some(State::Leased)) => "a worker has it",
            (_, Some(State::Done)) if was == State::Done => "retention has removed its bodies",
            _ => "it has changed since it was selected",
        }
    }
}

/// Makes a call until the inbox can take it. Returns also whether the call was repeated.
async fn retried<T>(call: impl AsyncFn() -> Result<T, Error>) -> Result<(T, bool), Error> {
    for attempt in 1..ATTEMPTS {
        match call().await {
            Err(error) if error.is_transient() => sleep(PAUSE).await,
            done => return Ok((done?, attempt > 1)),
        }
    }
    Ok((call().await?, true))
}

/// Why nothing can be done with an entry that was there when it was selected.
const GONE: &str = "it is gone: it was erased meanwhile, or retention removed it";

/// What became of an entry.
pub(super) enum Applied {
    /// How many entries were changed: this one, and others of its job.
    Changed(u64),
    /// Why not.
    Left(&'static str),
}
