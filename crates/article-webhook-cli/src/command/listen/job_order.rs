//! Whether it is the turn of a delivery: those of a job are passed on in the order of their arrival.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Entry, EntryKey, Error, Filter, Inbox, State};

/// How soon it is looked again whether an earlier delivery has ended that is under way or due.
const SOON: Duration = Duration::from_secs(1);

/// The longest interval between checks for an earlier delivery of the same job. That delivery may be requeued before its time.
const LONGEST: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Turns {
    inbox: Inbox,
    /// The deliveries that wait for their turn, so that each is reported once.
    held: Mutex<HashSet<EntryKey>>,
}

/// What a delivery does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    /// One that arrived earlier for the same job has not ended.
    Later {
        pause: Duration,
        is_new: bool,
    },
}

impl Turns {
    pub(super) fn new(inbox: &Inbox) -> Self {
        Self { inbox: inbox.clone(), held: Mutex::default() }
    }

    /// Whether the delivery may be passed on, which its worker has leased.
    pub(super) async fn of(&self, key: &EntryKey) -> Result<Turn, Error> {
        let earlier = self.earlier(key).await?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(earlier) = earlier else {
            held.remove(key);
            return Ok(Turn::Now);
        };
        let pause = match earlier.state {
            State::Waiting => earlier.at.duration_since(SystemTime::now()).unwrap_or_default(),
            // The earlier delivery is leased, and ends long before its lease.
            _ => SOON,
        };
        Ok(Turn::Later { pause: pause.clamp(SOON, LONGEST), is_new: held.insert(key.clone()) })
    }

    /// The first entry of the job that arrived earlier and has not ended.
    async fn earlier(&self, key: &EntryKey) -> Result<Option<Entry>, Error> {
        let mut filter = Filter { job_id: Some(key.job_id.clone()), ..Filter::default() };
        loop {
            // By ascending id, which is the order of arrival.
            let page = self.inbox.list(filter.clone()).await?;
            for entry in page.items {
                if entry.key == *key {
                    return Ok(None);
                }
                // A failure is no delivery, and nothing passes it on.
                let is_open = matches!(entry.state, State::Waiting | State::Leased);
                if is_open && !entry.key.is_failure() {
                    return Ok(Some(entry));
                }
            }
            let Some(next) = page.next else { return Ok(None) };
            filter.after = next;
        }
    }
}
