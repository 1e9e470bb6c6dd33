use std::{num::NonZeroU32, time::Duration};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, FakeRelativeClock},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed},
};

use crate::response::ApiError;

/// A limit on calls, in the time of the service.
pub(super) struct RateLimit {
    limiter: RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>,
    clock: FakeRelativeClock,
    now: Duration,
}

impl RateLimit {
    /// `None` if the period is shorter than a nanosecond per call.
    pub(super) fn new(calls: NonZeroU32, period: Duration) -> Option<Self> {
        let quota = Quota::with_period(period / calls.get())?.allow_burst(calls);
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::direct_with_clock(quota, clock.clone());
        Some(Self { limiter, clock, now: Duration::ZERO })
    }

    /// Counts a call.
    pub(super) fn admit(&mut self, now: Duration) -> Result<(), ApiError> {
        self.clock.advance(now.saturating_sub(self.now));
        self.now = self.now.max(now);
        let refused = self.limiter.check().err();
        refused.map_or(Ok(()), |until| {
            Err(ApiError::RateLimitExceeded { wait: until.wait_time_from(self.clock.now()) })
        })
    }
}
