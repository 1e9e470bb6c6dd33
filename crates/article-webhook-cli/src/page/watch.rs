use std::{
    convert::Infallible,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use article_webhook_inbox::{Counts, Entry, Filter, HourCount, Inbox, LedgerHealth, ListOrder};
use tokio::{
    sync::{Mutex, watch},
    time::timeout,
};

use super::panel::Panel;
use crate::output::log::Refusals;

/// How often the inbox is looked at while a page is open. It may be that another process writes it.
const PACE: Duration = Duration::from_millis(300);

/// How many of the newest entries are looked at.
const NEWEST: u32 = 50;

/// How long a page waits for counts.
const COUNTS_TIMEOUT: Duration = Duration::from_millis(100);

/// Counting reads a whole index. It takes this part of the time, so that it is frequent where it is fast.
const COUNTING: u32 = 20;

/// Hours that the charts show.
pub(super) const HOURS: u32 = 24;

/// What was seen of the inbox.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Changes when something that can be seen has changed.
    pub(super) revision: u64,
    /// `None`: not counted yet.
    pub(super) counts: Option<Counts>,
    /// What arrived and died in the last hours. `None`: not counted yet.
    pub(super) hours: Option<Arc<[HourCount]>>,
    /// The same of the ledger.
    ledger: Option<LedgerHealth>,
    has_ended: bool,
}

/// Looks at the inbox as long as pages are open, and reports changes to them: several arrivals are one change. A page that
/// is slow misses changes, and never the last.
#[derive(Clone)]
pub(super) struct Watch {
    inbox: Inbox,
    seen: Arc<watch::Sender<Seen>>,
    next_count: Arc<Mutex<Instant>>,
}

impl Watch {
    pub(super) fn new(inbox: &Inbox) -> Self {
        let seen = Arc::new(watch::Sender::new(Seen::default()));
        Self { inbox: inbox.clone(), seen, next_count: Arc::new(Mutex::new(Instant::now())) }
    }

    /// What was seen last. Where no page is open, it is counted now, as far as that is done soon.
    pub(super) async fn seen(&self) -> Seen {
        if self.seen.receiver_count() == 0 {
            // A count that takes longer goes on, and the next page has its result.
            let counting = tokio::spawn(self.clone().count());
            let _ = timeout(COUNTS_TIMEOUT, counting).await;
        }
        self.seen.borrow().clone()
    }

    /// Counts, unless that was done a short time ago, compared to how long it takes.
    async fn count(self) {
        let Ok(mut next) = self.next_count.try_lock() else { return };
        let start = Instant::now();
        if start >= *next {
            // A store that fails is shown by the page that asks it.
            let counts = self.inbox.counts().await.ok();
            let ledger = self.inbox.ledger_health().await.ok();
            self.seen.send_if_modified(|seen| {
                seen.counts = counts.or(seen.counts);
                seen.ledger = ledger.or(seen.ledger);
                false
            });
            // The hours are counted last, because their count reads the most.
            let hours = self.inbox.history(first_hour(SystemTime::now())).await.ok();
            *next = Instant::now() + start.elapsed() * COUNTING;
            self.seen.send_if_modified(|seen| {
                seen.hours = hours.map(Arc::from).or_else(|| seen.hours.take());
                false
            });
        }
    }

    /// The changes from now on.
    pub(super) fn changes(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    /// Ends the streams of all open pages.
    pub(super) fn end(&self) {
        self.seen.send_modify(|seen| seen.has_ended = true);
    }

    /// Also what a panel shows and what a receiver refuses are changes.
    pub(super) async fn run(
        self,
        panel: Option<Arc<dyn Panel>>,
        refusals: Option<Refusals>,
    ) -> Infallible {
        loop {
            tokio::time::sleep(PACE).await;
            if self.seen.receiver_count() == 0 {
                continue;
            }
            // A list does not wait until everything is counted.
            tokio::spawn(self.clone().count());
            let filter =
                Filter { order: ListOrder::NewestFirst, limit: NEWEST, ..Filter::default() };
            let Ok(page) = self.inbox.list(filter).await else { continue };
            let seen = self.seen.borrow().clone();
            let mut hasher = DefaultHasher::new();
            refusals.as_ref().map(Refusals::all).hash(&mut hasher);
            fingerprint(&page.items, &seen, panel.as_deref()).hash(&mut hasher);
            let revision = hasher.finish();
            self.seen.send_if_modified(|seen| {
                let is_changed = seen.revision != revision;
                seen.revision = revision;
                is_changed
            });
        }
    }
}

/// The next revision; `None` when the page ends.
pub(super) async fn next(changes: &mut watch::Receiver<Seen>) -> Option<u64> {
    changes.changed().await.ok()?;
    let seen = changes.borrow_and_update();
    (!seen.has_ended).then_some(seen.revision)
}

/// When the charts begin.
pub(super) fn first_hour(now: SystemTime) -> SystemTime {
    let hours = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 3600;
    let first = u32::try_from(hours).unwrap_or_default().saturating_sub(HOURS - 1);
    SystemTime::UNIX_EPOCH + HourCount::LENGTH * first
}

fn fingerprint(entries: &[Entry], seen: &Seen, panel: Option<&dyn Panel>) -> u64 {
    let mut hasher = DefaultHasher::new();
    panel
        .map(|panel| (panel.text(), panel.actions(), panel.rows().into_string()))
        .hash(&mut hasher);
    for entry in entries {
        let Entry { id, state, attempts, at, conflicts, .. } = entry;
        (id, state.as_str(), attempts, at, conflicts).hash(&mut hasher);
    }
    for &state in article_webhook_inbox::State::ALL {
        seen.counts.map(|counts| counts.of(state)).hash(&mut hasher);
    }
    // The ledger has no hash of its own, and its `Debug` shows all of it.
    format!("{:?} {:?}", seen.ledger, seen.hours).hash(&mut hasher);
    hasher.finish()
}
