//! A token bucket whose rate follows the service: an answer 429 halves it, and it recovers linearly within an hour
//! (additive increase, multiplicative decrease).

use std::time::{Duration, SystemTime};

use super::refused_key::RefusedKey;
use crate::{
    call::{BucketEvent, BucketSettings, OrderTurn, Pause, PauseReason},
    timestamp::{later, rounded},
};

/// A token in the unit of [`Bucket::used`].
const TOKEN: i64 = 1000;

/// The full rate in the unit of [`Bucket::share`].
const FULL: u16 = 1000;

/// Orders take no more tokens than this, from one token of an ask to the next.
const ORDERS_BETWEEN_ASKS: u8 = 3;

/// What [`Bucket::rate`] is divided by: the milliseconds of a minute, and the full share.
const UNIT: i128 = 60_000 * FULL as i128;

/// The rate is not halved below a sixteenth.
pub(crate) const LEAST: u16 = FULL / 16;

/// A rate that was halved to nothing would be full again after this time.
const RECOVERY: Duration = Duration::from_secs(3600);

/// Answers to calls that were under way together halve the rate once.
const HALVED_ONCE: Duration = Duration::from_secs(60);

/// How many refused keys are known.
const KEYS: usize = 8;

/// The token bucket: how fast the API may be asked. It is a row of the store, so that many nodes share it and a restart
/// does not refill it.
///
/// In any window of time, asks take at most as many tokens as the burst and the rate of that window. Orders take without
/// waiting, if need be into debt, which the asks then wait for. While an ask is due, every fourth token [is an
/// ask's](Self::take_for_order), however many orders are made.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::store::{Bucket, BucketSettings, OrderTurn};
///
/// let (now, settings) = (SystemTime::UNIX_EPOCH, BucketSettings { per_minute: 30, burst: 1, key: 1 });
/// let mut bucket = Bucket::new(now);
/// assert_eq!(bucket.take_for_order(settings, now), OrderTurn::Taken);
/// assert_eq!(bucket.take_for_order(settings, now), OrderTurn::Taken, "into debt");
/// assert!(!bucket.take(settings, now + Duration::from_secs(3)));
/// assert!(bucket.take(settings, now + Duration::from_secs(4)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct Bucket {
    /// What was taken and is not refilled yet, in thousandths of a token. More than the burst is debt.
    pub used: i64,
    /// Until when it is refilled.
    pub refilled_at: SystemTime,
    /// The share of the full rate at `shared_at`, in thousandths. It recovers slowly.
    pub share: u16,
    /// When the rate was halved last.
    pub shared_at: SystemTime,
    /// The pause that the service asked for. It may have passed.
    pub limited: Option<Pause>,
    /// The keys that the service refused and has not accepted since. Each has a pause of its own, beside that of the
    /// service. The last eight are kept, and the one that was refused last is the last.
    pub refused: Vec<RefusedKey>,
    /// When a key was refused last.
    pub refused_at: Option<SystemTime>,
    /// The key that was used last, as [`BucketSettings::key`] names it. Before that, the first that was to be used, or 0.
    pub key: u64,
    /// How many tokens asks took, modulo 256.
    pub turn: u8,
    /// How many tokens orders took since an ask took one: three at most.
    pub orders: u8,
}

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self {
            used: 0,
            refilled_at: now,
            share: FULL,
            shared_at: now,
            limited: None,
            refused: Vec::new(),
            refused_at: None,
            key: 0,
            turn: 0,
            orders: 0,
        }
    }

    /// Takes a token for an ask. `false` if there is none, or the bucket is paused.
    pub fn take(&mut self, settings: BucketSettings, now: SystemTime) -> bool {
        self.refill(settings, now);
        let is_taken =
            self.paused(settings.key, now).is_none() && self.used + TOKEN <= capacity(settings);
        if is_taken {
            self.used = self.used.saturating_add(TOKEN);
            (self.turn, self.orders) = (self.turn.wrapping_add(1), 0);
            self.use_key(settings.key, now);
        }
        is_taken
    }

    /// Takes a token for an order, if need be into debt. Between one ask's token and the next, orders take three tokens at
    /// most: one beyond that is made too, and takes nothing.
    ///
    /// So an ask that is due waits for four tokens at most, and asks get at least a quarter of the rate, however many
    /// orders are made. *asks sent ≤ burst + rate × window* holds for asks alone. No order waits for a token, so that
    /// there is no such limit for orders, or for both together.
    pub fn take_for_order(&mut self, settings: BucketSettings, now: SystemTime) -> OrderTurn {
        self.refill(settings, now);
        match self.paused(settings.key, now) {
            Some(pause) => OrderTurn::Paused(pause),
            None => {
                if self.orders < ORDERS_BETWEEN_ASKS {
                    self.used = self.used.saturating_add(TOKEN);
                    self.orders += 1;
                }
                self.use_key(settings.key, now);
                OrderTurn::Taken
            }
        }
    }

    /// The pause of asks and orders with this key that lasts longest, if there is one now.
    #[must_use]
    pub fn paused(&self, key: u64, now: SystemTime) -> Option<Pause> {
        let refused = self.refused.iter().find(|refused| refused.key == key);
        let pauses = [self.limited, refused.map(|refused| refused.pause())].into_iter().flatten();
        pauses.filter(|pause| now < pause.until).max_by_key(|pause| pause.until)
    }

    /// How many tokens it holds for asks. Below zero, it is the debt of orders.
    #[must_use]
    pub fn tokens(&self, settings: BucketSettings, now: SystemTime) -> i64 {
        let mut bucket = self.clone();
        bucket.refill(settings, now);
        capacity(settings).saturating_sub(bucket.used).div_euclid(TOKEN)
    }

    /// When an ask can have a token, if nothing else takes one. `None`: never with these settings.
    #[must_use]
    pub fn next_token(&self, settings: BucketSettings, now: SystemTime) -> Option<SystemTime> {
        let missing = i128::from(self.used + TOKEN - capacity(settings)).max(0);
        let rate = self.rate(settings);
        let millis = if missing > 0 { (missing * UNIT + rate - 1).checked_div(rate)? } else { 0 };
        let millis = Duration::from_millis(u64::try_from(millis).ok()?);
        let at = later(self.refilled_at, millis).max(now);
        let is_possible = settings.burst > 0;
        is_possible.then(|| self.paused(settings.key, now).map_or(at, |pause| at.max(pause.until)))
    }

    /// Stores what happened.
    pub fn report(&mut self, event: BucketEvent, now: SystemTime) {
        match event {
            BucketEvent::RateLimited { retry_after } => {
                if self.share == FULL || later(self.shared_at, HALVED_ONCE) <= now {
                    self.share = (self.share_at(now) / 2).max(LEAST);
                    self.shared_at = now;
                }
                self.limit(retry_after, PauseReason::RateLimited, now);
            }
            BucketEvent::Unavailable { retry_after } => {
                self.limit(retry_after, PauseReason::Unavailable, now);
            }
            BucketEvent::KeyRefused { key } => {
                self.refused_at = Some(now);
                let known = self.refused.iter().find(|refused| refused.key == key);
                self.refuse(known.copied().unwrap_or_else(|| RefusedKey::new(key, now)));
            }
            BucketEvent::KeyAccepted { key } => _ = self.accept_key(key),
            BucketEvent::Resumed => {
                self.limited = None;
                self.refused.clear();
            }
        }
    }

    /// The service asked for a pause of all calls. It never shortens another.
    fn limit(&mut self, retry_after: Duration, why: PauseReason, now: SystemTime) {
        let until = later(now, retry_after);
        if now < until && self.limited.is_none_or(|pause| pause.until < until) {
            self.limited = Some(Pause { since: now, until, why });
        }
    }

    /// The service accepted the key, which ends its pause. `false` if nothing changed.
    pub fn accept_key(&mut self, key: u64) -> bool {
        let known = self.refused.len();
        self.refused.retain(|refused| refused.key != key);
        self.refused.len() < known
    }

    /// The transition at the start of a process, for a store that only one process uses. It shortens what lies in the
    /// future because the clock was set back. `false` if nothing changed.
    pub fn restart(&mut self, now: SystemTime) -> bool {
        let before = self.clone();
        self.refilled_at = self.refilled_at.min(now);
        self.shared_at = self.shared_at.min(now);
        for (since, until) in self.pauses() {
            let length = until.duration_since(*since).unwrap_or_default();
            *since = (*since).min(now);
            *until = (*until).min(later(now, length));
        }
        before != *self
    }

    /// Takes over what another store exported, as far as it allows less. What lies in the future comes from a clock that
    /// was ahead, and is shortened as at a [start](Self::restart).
    pub fn import(&mut self, other: &Self, now: SystemTime) {
        self.used = self.used.max(other.used);
        if other.used > 0 {
            // The time in which nothing was used here does not refill what was used there. An export does not say since
            // when that is refilled.
            self.refilled_at = now;
        }
        self.share = self.share.min(other.share);
        self.shared_at = self.shared_at.max(rounded(other.shared_at));
        self.refused_at = self.refused_at.max(other.refused_at.map(rounded));
        let limited = other.limited.map(|pause| Pause {
            since: rounded(pause.since),
            until: rounded(pause.until),
            ..pause
        });
        let until = |pause: Option<Pause>| pause.map(|pause| pause.until);
        if until(self.limited) < until(limited) {
            self.limited = limited;
        }
        for there in &other.refused {
            let (since, until) = (rounded(there.since), rounded(there.until));
            let there = RefusedKey { since, until, ..*there };
            match self.refused.iter_mut().find(|here| here.key == there.key) {
                Some(here) if here.until < until => *here = there,
                Some(_) => {}
                None => self.refuse(there),
            }
        }
        self.restart(now);
    }

    /// The beginning and the end of each pause.
    pub(super) fn pauses(&mut self) -> impl Iterator<Item = (&mut SystemTime, &mut SystemTime)> {
        let limited = self.limited.iter_mut().map(|pause| (&mut pause.since, &mut pause.until));
        limited.chain(self.refused.iter_mut().map(|key| (&mut key.since, &mut key.until)))
    }

    /// The key was refused last. Of too many, the one that was refused first is forgotten.
    fn refuse(&mut self, refused: RefusedKey) {
        self.accept_key(refused.key);
        self.refused.push(refused);
        let surplus = self.refused.len().saturating_sub(KEYS);
        self.refused.drain(..surplus);
    }

    /// A call uses the key, and tries it, if it is refused. Until that has an answer, no other does.
    fn use_key(&mut self, key: u64, now: SystemTime) {
        self.key = key;
        if let Some(refused) = self.refused.iter_mut().find(|refused| refused.key == key) {
            refused.extend(now);
        }
    }

    /// Gives back what the time since the last refill brings, at the rate that the bucket had at its beginning. What
    /// rounding takes away is never more than a millisecond.
    fn refill(&mut self, settings: BucketSettings, now: SystemTime) {
        if self.key == 0 {
            self.key = settings.key;
        }
        let elapsed = now.duration_since(self.refilled_at).unwrap_or_default().as_millis();
        let rate = self.rate(settings);
        let gained = i128::try_from(elapsed).unwrap_or(i128::MAX).saturating_mul(rate) / UNIT;
        if i128::from(self.used) <= gained {
            (self.used, self.refilled_at) = (0, self.refilled_at.max(now));
        } else if gained > 0 {
            self.used -= i64::try_from(gained).unwrap_or(self.used);
            let spent = (gained * UNIT + rate - 1) / rate;
            let spent = Duration::from_millis(u64::try_from(spent).unwrap_or(u64::MAX));
            self.refilled_at = later(self.refilled_at, spent);
        }
    }

    /// How much a millisecond brings, in thousandths of a token divided by [`UNIT`].
    fn rate(&self, settings: BucketSettings) -> i128 {
        i128::from(settings.per_minute)
            * i128::from(TOKEN)
            * i128::from(self.share_at(self.refilled_at))
    }

    /// The share of the full rate at that time, in thousandths. A 429 halves it.
    #[must_use]
    pub fn share_at(&self, now: SystemTime) -> u16 {
        let elapsed = now.duration_since(self.shared_at).unwrap_or_default().min(RECOVERY);
        let recovered = elapsed.as_millis() * u128::from(FULL) / RECOVERY.as_millis();
        let recovered = u16::try_from(recovered).unwrap_or(FULL);
        self.share.saturating_add(recovered).min(FULL)
    }
}

/// What the bucket holds, in thousandths of a token.
fn capacity(settings: BucketSettings) -> i64 {
    i64::from(settings.burst) * TOKEN
}

#[cfg(test)]
mod tests;
