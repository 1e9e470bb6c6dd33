//! When a claim reads its whole index, and when only the end of it.
//!
//! A claimed entry leaves a dead tuple in the index. Vacuum removes it, unless a transaction with an old snapshot holds the
//! xmin horizon back. Meanwhile a claim that reads the whole index passes all dead tuples, and becomes slower with each
//! entry that was claimed. Every entry is still found: whole reads become rare, and never end.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use article_webhook_inbox::store::Events;
use tokio_postgres::error::SqlState;

use crate::{
    connection::Length,
    fault::Fault,
    statements::{ByKind, Found, Scan},
};

/// After a claim that has read this many entries of its indexes, the next ones do not read all of them.
const MANY: i64 = 2_000;

/// Of a claim that read everything and took a second, the next one follows after as many seconds as this, but after a minute
/// at the latest, or after as long as it took if that is more.
const SELDOM: u32 = 20;
const LONGEST: Duration = Duration::from_secs(60);

/// A claim that read everything in less may be limited again in its time.
const SLOW: Duration = Duration::from_secs(4);

/// How far before its last entry a claim begins to search, in milliseconds. Entries are committed in another order than that
/// of their times.
const MARGIN: i64 = 200;

/// What claims read of their indexes.
///
/// An index keeps what was claimed until vacuum may remove it. While another transaction has an old snapshot, vacuum may not,
/// and each claim would read all that was claimed since. It also would where very many entries are leased, or locked by
/// others. Then most claims search from where the last one ended, among waiting entries alone. What they cannot see is found
/// by those that still read everything: leases that have ended, and entries that were committed late. Claims of other
/// events end elsewhere, so they are apart.
pub(super) struct Scans(Mutex<[Progress; 2]>);

/// What the claims of some events have found out.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    long: Option<Long>,
    /// The server ended a claim that read everything, because it took too long. The next may take its time.
    is_patient: bool,
}

/// Reading everything takes long.
#[derive(Debug, Clone, Copy)]
struct Long {
    /// Up to which times entries were claimed.
    floor: ByKind<i64>,
    /// When to read everything again.
    all_at: Instant,
}

impl Scans {
    pub(super) fn new() -> Self {
        Self(Mutex::default())
    }

    /// What the next claim of these events reads, and how long it may take.
    pub(super) fn next(&self, events: Events, now: Instant) -> (Scan, Length) {
        let Progress { long, is_patient } = self.lock()[place(events)];
        match long {
            Some(long) if now < long.all_at => (Scan::From(before(long.floor)), Length::Call),
            _ if is_patient => (Scan::All, Length::Unlimited),
            _ => (Scan::All, Length::Call),
        }
    }

    /// A claim has read its indexes. Returns how long the next claims do not read everything.
    pub(super) fn done(
        &self,
        (events, scan): (Events, Scan),
        found: &Found,
        began: Instant,
        now: Instant,
    ) -> Option<Duration> {
        let Progress { long, is_patient } = &mut self.lock()[place(events)];
        match (scan, &mut *long) {
            (Scan::From(_), Some(Long { floor, .. })) => {
                floor.new = floor.new.max(found.up_to.new);
                floor.retry = floor.retry.max(found.up_to.retry);
            }
            // An operator has put an entry back meanwhile.
            (Scan::From(_), None) => {}
            (Scan::All, long) => {
                // Leases that have ended are found by claims that read everything alone.
                let pause = if found.leaves_leased { Duration::ZERO } else { pause(now - began) };
                *is_patient &= now - began > SLOW;
                let all_at = now + pause;
                *long = (found.read > MANY).then_some(Long { floor: found.up_to, all_at });
            }
        }
        long.map(|long| long.all_at.saturating_duration_since(now))
    }

    /// A claim has failed.
    pub(super) fn failed(
        &self,
        (events, scan): (Events, Scan),
        fault: &Fault,
        began: Instant,
        now: Instant,
    ) {
        if scan != Scan::All {
            return;
        }
        let Progress { long, is_patient } = &mut self.lock()[place(events)];
        *is_patient |= matches!(fault, Fault::Driver(error) if error.code() == Some(&SqlState::QUERY_CANCELED));
        if let Some(long) = long {
            long.all_at = now + pause(now - began);
        }
    }

    /// An entry may be due before those that were claimed.
    pub(super) fn put_back(&self) {
        self.lock().iter_mut().for_each(|progress| progress.long = None);
    }

    fn lock(&self) -> MutexGuard<'_, [Progress; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the search begins of claims after those up to this floor.
fn before(floor: ByKind<i64>) -> ByKind<i64> {
    let before = |at: i64| at.saturating_sub(MARGIN);
    ByKind { new: before(floor.new), retry: before(floor.retry) }
}

fn place(events: Events) -> usize {
    match events {
        Events::All => 0,
        Events::ExceptFailures => 1,
    }
}

/// How long claims do not read everything after one that took so long.
fn pause(took: Duration) -> Duration {
    (took * SELDOM).min(LONGEST.max(took))
}

#[cfg(test)]
mod tests {
    use article_webhook_inbox::Error;

    use super::*;

    const ALL: (Events, Scan) = (Events::All, Scan::All);
    const SECOND: Duration = Duration::from_secs(1);

    fn found(read: i64, up_to: i64) -> Found {
        Found { read, up_to: ByKind { new: up_to, retry: 0 }, ..Found::default() }
    }

    fn from(floor: i64) -> (Scan, Length) {
        (later(floor).1, Length::Call)
    }

    fn later(floor: i64) -> (Events, Scan) {
        (Events::All, Scan::From(before(ByKind { new: floor, retry: 0 })))
    }

    #[test]
    fn everything_is_read_while_that_is_little() {
        let (scans, now) = (Scans::new(), Instant::now());
        assert_eq!(scans.next(Events::All, now), (Scan::All, Length::Call));
        assert_eq!(scans.done(ALL, &found(MANY, 10_000), now, now + SECOND), None);
        assert_eq!(scans.next(Events::All, now), (Scan::All, Length::Call));
    }

    #[test]
    fn where_it_is_much_it_is_read_seldom_and_claims_go_on_from_the_last() {
        let (scans, began) = (Scans::new(), Instant::now());
        let now = began + SECOND;
        let paused = scans.done(ALL, &found(MANY + 1, 10_000), began, now);
        assert_eq!(paused, Some(SECOND * SELDOM));
        assert_eq!(scans.next(Events::All, now), from(10_000));
        let others = scans.next(Events::ExceptFailures, now);
        assert_eq!(others, (Scan::All, Length::Call), "other events have ended elsewhere");

        let later = later(10_000);
        scans.done(later, &found(16, 12_000), now, now);
        scans.done(later, &found(16, 11_000), now, now);
        assert_eq!(scans.next(Events::All, now), from(12_000));
        assert_eq!(scans.next(Events::All, now + SECOND * SELDOM), (Scan::All, Length::Call));

        scans.put_back();
        let next = scans.next(Events::All, now);
        assert_eq!(next, (Scan::All, Length::Call), "an operator put an entry back");
        scans.done(later, &found(16, 12_000), now, now);
        assert_eq!(scans.next(Events::All, now), (Scan::All, Length::Call));
    }

    #[test]
    fn everything_is_read_again_after_a_minute_or_as_long_as_that_takes() {
        for (took, expected) in [(4, 60), (59, 60), (90, 90)] {
            assert_eq!(pause(SECOND * took), SECOND * expected);
        }
    }

    #[test]
    fn leases_that_have_ended_and_were_left_are_read_again_at_once() {
        let (scans, now) = (Scans::new(), Instant::now());
        let left = Found { leaves_leased: true, ..found(MANY + 1, 10_000) };
        assert_eq!(scans.done(ALL, &left, now, now + SECOND), Some(Duration::ZERO));
        assert_eq!(scans.next(Events::All, now + SECOND), (Scan::All, Length::Call));
    }

    #[test]
    fn a_failure_to_read_everything_does_not_keep_claims_from_going_on() {
        let (scans, now) = (Scans::new(), Instant::now());
        scans.done(ALL, &found(MANY + 1, 10_000), now, now);
        assert_eq!(scans.next(Events::All, now), (Scan::All, Length::Call));
        let fault = Fault::Ours(Error::unavailable("it took too long"));
        scans.failed(ALL, &fault, now, now + SECOND * 8);
        assert_eq!(scans.next(Events::All, now + SECOND * 8), from(10_000));
        assert_eq!(scans.next(Events::All, now + SECOND * 68), (Scan::All, Length::Call));
    }
}
