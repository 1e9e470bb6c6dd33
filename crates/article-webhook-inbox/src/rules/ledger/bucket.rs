use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{
    call::{BucketEvent, BucketSettings, Pause, PauseReason},
    codec,
    timestamp::later,
};

/// The pause after a refused key, before one call tries it again.
const REFUSED_KEY_PAUSE: Duration = Duration::from_secs(300);

/// The token bucket and the one pause: how fast the API may be polled, and from when on. It is a row of the store, so that
/// many nodes share it and a restart does not refill it.
///
/// In any window of time, polls take at most as many tokens as the burst and the rate of that window. Orders take none. A
/// pause holds both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct Bucket {
    /// When the bucket is full again. It is full if that has passed, and each token that is taken makes it later by the
    /// time in which a token comes back.
    #[serde(with = "codec::millis")]
    pub full_at: SystemTime,
    /// The pause of polls and orders. It may have passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// When a key was refused last.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "codec::optional_millis")]
    pub key_refused_at: Option<SystemTime>,
}

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub const fn new() -> Self {
        Self { full_at: SystemTime::UNIX_EPOCH, pause: None, key_refused_at: None }
    }

    /// A bucket without tokens, in place of one that cannot be read.
    #[must_use]
    pub fn empty() -> Self {
        // The first use shortens it to the time in which the bucket is filled.
        Self { full_at: later(SystemTime::UNIX_EPOCH, Duration::MAX), ..Self::new() }
    }

    /// Takes a token for a poll. `false` if there is none, or the bucket is paused.
    pub fn take(&mut self, settings: BucketSettings, now: SystemTime) -> bool {
        // A later time comes from a clock that was set back since.
        self.full_at = self.full_at.min(later(now, capacity(settings)));
        let full_at = later(self.full_at.max(now), interval(settings));
        let is_taken =
            full_at <= later(now, capacity(settings)) && self.begin_call(settings.key, now).is_ok();
        if is_taken {
            self.full_at = full_at;
        }
        is_taken
    }

    /// A call with this key, a poll or an order, begins, unless it is paused. If the key was refused, this call tries it,
    /// and until that has an answer, no other does.
    ///
    /// # Errors
    ///
    /// The pause.
    pub fn begin_call(&mut self, key: u64, now: SystemTime) -> Result<(), Pause> {
        if let Some(pause) = self.paused(key, now) {
            return Err(pause);
        }
        if self.pause.is_some_and(|pause| pause.why == PauseReason::KeyRefused { key }) {
            self.hold(REFUSED_KEY_PAUSE, PauseReason::KeyRefused { key }, now);
        }
        Ok(())
    }

    /// The pause of polls and orders with this key, if there is one now.
    #[must_use]
    pub fn paused(&self, key: u64, now: SystemTime) -> Option<Pause> {
        let holds = |pause: &Pause| match pause.why {
            PauseReason::KeyRefused { key: refused } => refused == key,
            PauseReason::RateLimited | PauseReason::Unavailable => true,
        };
        self.pause.filter(|pause| now < pause.until && holds(pause))
    }

    /// How many tokens it holds.
    #[must_use]
    pub fn tokens(&self, settings: BucketSettings, now: SystemTime) -> u32 {
        let missing = self.full_at.duration_since(now).unwrap_or_default();
        let left = capacity(settings).saturating_sub(missing);
        u32::try_from(left.as_millis() / interval(settings).as_millis()).unwrap_or(u32::MAX)
    }

    /// When a poll can have a token, if nothing else takes one.
    #[must_use]
    pub fn next_token(&self, settings: BucketSettings, now: SystemTime) -> SystemTime {
        let missing = self.full_at.duration_since(now).unwrap_or_default();
        let missing = missing.min(capacity(settings)) + interval(settings);
        let at = later(now, missing.saturating_sub(capacity(settings)));
        self.paused(settings.key, now).map_or(at, |pause| at.max(pause.until))
    }

    /// Stores what happened.
    pub fn report(&mut self, event: BucketEvent, now: SystemTime) {
        match event {
            BucketEvent::RateLimited { retry_after } => {
                self.hold(retry_after, PauseReason::RateLimited, now);
            }
            BucketEvent::Unavailable { retry_after } => {
                self.hold(retry_after, PauseReason::Unavailable, now);
            }
            BucketEvent::KeyRefused { key } => {
                self.key_refused_at = Some(now);
                self.hold(REFUSED_KEY_PAUSE, PauseReason::KeyRefused { key }, now);
            }
            BucketEvent::KeyAccepted { key } => _ = self.accept_key(key),
            BucketEvent::Resumed => self.pause = None,
        }
    }

    /// The service accepted the key, which ends its pause. `false` if nothing changed.
    pub fn accept_key(&mut self, key: u64) -> bool {
        self.pause.take_if(|pause| pause.why == PauseReason::KeyRefused { key }).is_some()
    }

    /// The transition at the start of a process, for a store that only one process uses. It shortens a pause that lies in
    /// the future because the clock was set back; what is missing to a full bucket is shortened [when it is
    /// used](Self::take). `false` if nothing changed.
    pub fn restart(&mut self, now: SystemTime) -> bool {
        let before = self.pause;
        if let Some(Pause { since, until, .. }) = &mut self.pause {
            let length = until.duration_since(*since).unwrap_or_default();
            (*since, *until) = ((*since).min(now), (*until).min(later(now, length)));
        }
        before != self.pause
    }

    /// Takes over what another store exported, as far as it allows less. What lies in the future comes from a clock that
    /// was ahead, and is shortened as at a [start](Self::restart).
    pub fn import(&mut self, other: &Self, now: SystemTime) {
        self.full_at = self.full_at.max(other.full_at);
        self.key_refused_at = self.key_refused_at.max(other.key_refused_at);
        self.pause = lasting([other.pause, self.pause], now);
        self.restart(now);
    }

    fn hold(&mut self, length: Duration, why: PauseReason, now: SystemTime) {
        let pause = Pause { since: now, until: later(now, length), why };
        self.pause = lasting([Some(pause), self.pause], now);
    }
}

impl Default for Bucket {
    fn default() -> Self {
        Self::new()
    }
}

/// The pause that stays, of those that still last: one that the service asked for before that of a refused key, and of two such
/// the one that ends later. So no call comes within a `Retry-After`, with whatever key. A refused key that so loses its pause
/// is tried once that of the service ends.
fn lasting(pauses: [Option<Pause>; 2], now: SystemTime) -> Option<Pause> {
    let is_refusal = |pause: &Pause| matches!(pause.why, PauseReason::KeyRefused { .. });
    let pauses = pauses.into_iter().flatten().filter(|pause| now < pause.until);
    pauses.max_by_key(|pause| (!is_refusal(pause), pause.until))
}

/// The time in which a token comes back, in whole milliseconds: 60,000 tokens a minute are the most.
fn interval(settings: BucketSettings) -> Duration {
    Duration::from_millis(60_000_u64.div_ceil(settings.per_minute.max(1).into()))
}

/// The time in which an empty bucket is filled.
fn capacity(settings: BucketSettings) -> Duration {
    interval(settings).saturating_mul(settings.burst.max(1))
}

#[cfg(test)]
mod tests;
