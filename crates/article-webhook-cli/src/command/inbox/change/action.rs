//! What is done with an entry, and what became of it.

use article_webhook_inbox::{Entry, Error, Filter, Inbox, State};

#[derive(Debug, Clone)]
pub(crate) enum Change {
    Requeue,
    Bury { cause: String },
    Forget,
}

impl Change {
    pub(super) fn verb(&self) -> &'static str {
        match self {
            Self::Requeue => "requeue",
            Self::Bury { .. } => "bury",
            Self::Forget => "forget",
        }
    }

    pub(super) fn done(&self) -> &'static str {
        match self {
            Self::Requeue => "requeued",
            Self::Bury { .. } => "buried",
            Self::Forget => "forgot",
        }
    }

    /// The states of the entries that a filter without a state means.
    pub(super) fn states(&self) -> &'static [State] {
        match self {
            Self::Requeue => &[State::Dead, State::Unhandled, State::Corrupt],
            Self::Bury { .. } => &[State::Waiting, State::Unhandled, State::Corrupt],
            Self::Forget => &State::ALL,
        }
    }

    /// What the help says of them.
    pub(crate) fn selection_help(&self) -> String {
        let names: Vec<_> = self.states().iter().map(|state| state.as_str()).collect();
        let (last, before) = names.split_last().expect("a change is for some state");
        let before = before.join(", ");
        format!("Filters without --state, and --all, select {before} and {last} entries.")
    }

    pub(super) async fn apply(self, inbox: Inbox, entry: Entry) -> Result<Applied, Error> {
        let Entry { key, state, .. } = entry;
        let is_changed = match &self {
            // One that has left its state since it was selected stays as it is: it may be done now.
            Self::Requeue => inbox.ledger().requeue(key.clone(), Some(state)).await?,
            Self::Bury { cause } => inbox.bury(key.clone(), cause).await?,
            // All entries of the job are forgotten with this one, and are counted here: each of them was selected.
            Self::Forget => return inbox.forget(key.job_id).await.map(Applied::Changed),
        };
        if is_changed {
            return Ok(Applied::Changed(1));
        }
        let one = Filter {
            job_id: Some(key.job_id),
            event: Some(key.event),
            limit: 1,
            ..Filter::default()
        };
        let now = inbox.list(one).await?.entries.pop();
        Ok(Applied::Left(self.why_not(state, now.map(|entry| entry.state))))
    }

    /// Why an entry was left as it is. It was in the one state when it was selected, and is in the other now.
    fn why_not(&self, was: State, now: Option<State>) -> &'static str {
        match (self, now) {
            (_, None) => GONE,
            (Self::Bury { .. }, _) => "only a waiting, unhandled or corrupt entry can be buried",
            (_, Some(State::Leased)) => "a worker has it",
            (_, Some(State::Done)) if was == State::Done => "retention has removed its bodies",
            _ => "it has changed since it was selected",
        }
    }
}

/// Why nothing can be done with an entry that was there when it was selected.
pub(super) const GONE: &str = "it is gone: it was forgotten meanwhile, or retention removed it";

/// What became of an entry.
pub(super) enum Applied {
    /// It was changed, and others of its job with it: how many.
    Changed(u64),
    /// Why not.
    Left(&'static str),
}

#[cfg(test)]
mod tests {
    use article_webhook::{Sink, fixture};
    use article_webhook_inbox::EntryKey;

    use super::*;

    /// What becomes of an entry that was selected and is changed by others before its turn.
    async fn raced(change: Change, meanwhile: impl AsyncFnOnce(&Inbox, EntryKey)) -> &'static str {
        let inbox = Inbox::memory();
        inbox.accept(fixture::complete().delivery().unwrap()).await;
        let entry = inbox.list(Filter::default()).await.unwrap().entries.remove(0);
        meanwhile(&inbox, entry.key.clone()).await;
        match change.apply(inbox, entry).await.unwrap() {
            Applied::Changed(_) => "changed",
            Applied::Left(why) => why,
        }
    }

    #[tokio::test]
    async fn the_cause_is_that_of_the_entry_as_others_left_it() {
        let forget = async |inbox: &Inbox, key: EntryKey| {
            assert_eq!(inbox.forget(key.job_id).await.unwrap(), 1);
        };
        let bury = async |inbox: &Inbox, key| assert!(inbox.bury(key, "no").await.unwrap());
        let work = async |inbox: &Inbox, _| {
            inbox.worker(async |_| Ok(())).run_until_idle().await.unwrap();
        };
        let why_buried = "only a waiting, unhandled or corrupt entry can be buried";
        let buried = || Change::Bury { cause: "no".to_owned() };
        assert_eq!(raced(Change::Requeue, async |_: &Inbox, _| ()).await, "changed");
        assert_eq!(raced(Change::Requeue, forget).await, GONE);
        assert_eq!(raced(buried(), forget).await, GONE);
        assert_eq!(raced(Change::Requeue, bury).await, "it has changed since it was selected");
        assert_eq!(raced(buried(), bury).await, why_buried);
        assert_eq!(raced(Change::Requeue, work).await, "it has changed since it was selected");
    }
}
