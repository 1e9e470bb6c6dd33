use std::time::{Duration, SystemTime};

use crate::{
    call::{Pause, PauseReason},
    timestamp::later,
};

/// The pause after a refused key, before one call tries it again. It doubles with each try.
const FIRST_PAUSE: Duration = Duration::from_secs(300);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// An API key that the service refused, in [`Bucket::refused`](crate::store::Bucket::refused).
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::store::{Bucket, BucketEvent, BucketSettings};
///
/// let (now, settings) = (SystemTime::UNIX_EPOCH, BucketSettings { per_minute: 30, burst: 5, key: 1 });
/// let mut bucket = Bucket::new(now);
/// bucket.report(BucketEvent::KeyRefused { key: 1 }, now);
/// assert_eq!(bucket.refused[0].until, now + Duration::from_secs(300));
/// assert!(!bucket.take(settings, now), "the key is paused");
/// assert!(bucket.take(BucketSettings { key: 2, ..settings }, now), "another key is not");
/// assert!(!bucket.take(settings, now), "and it lifts no pause");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct RefusedKey {
    /// The key, as [`BucketSettings::key`](crate::store::BucketSettings::key) names it.
    pub key: u64,
    /// How often in a row it was tried and refused.
    pub refusals: u32,
    /// When its pause began.
    pub since: SystemTime,
    /// When its pause ends. It may have passed.
    pub until: SystemTime,
}

impl RefusedKey {
    /// A key that was refused for the first time.
    pub(super) fn new(key: u64, now: SystemTime) -> Self {
        let mut refused = Self { key, refusals: 0, since: now, until: now };
        refused.extend(now);
        refused
    }

    /// Its pause begins anew, and is longer each time.
    pub(super) fn extend(&mut self, now: SystemTime) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.refusals.min(8)).min(LONGEST_PAUSE);
        self.refusals = self.refusals.saturating_add(1);
        let until = later(now, pause);
        if self.until < until {
            (self.since, self.until) = (now, until);
        }
    }

    pub(super) fn pause(self) -> Pause {
        Pause { since: self.since, until: self.until, why: PauseReason::KeyRefused }
    }
}
