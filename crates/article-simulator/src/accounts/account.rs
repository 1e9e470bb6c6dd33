use std::{num::NonZeroU32, sync::Arc, time::Duration};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, FakeRelativeClock},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed},
};

use crate::{
    Tenant,
    service::{brand::Brand, problem::Problem},
};

/// What belongs to one API key.
pub(crate) struct Account {
    pub(crate) api_key: String,
    pub(crate) credits: u64,
    pub(crate) has_paid_plan: bool,
    pub(crate) brands: Vec<Brand>,
    /// The brand that was configured last: what an order is for that names none.
    current: Option<usize>,
    limit: Option<Limit>,
}

impl Account {
    pub(crate) fn new(tenant: Tenant, limit: Option<(NonZeroU32, Duration)>) -> Self {
        let mut account = Self {
            api_key: tenant.api_key,
            credits: tenant.credits,
            has_paid_plan: tenant.has_paid_plan,
            brands: Vec::new(),
            current: None,
            limit: limit.and_then(|(calls, per)| Limit::new(calls, per)),
        };
        if let Some(id) = tenant.brand_id {
            account.configure(&id).targets = tenant.targets.into_iter().map(Arc::new).collect();
        }
        account
    }

    pub(crate) fn configure(&mut self, id: &str) -> &mut Brand {
        let index = self.index_of(id);
        self.current = Some(index);
        let brand = &mut self.brands[index];
        brand.is_configured = true;
        brand
    }

    /// The brand of that id, made if there is none.
    pub(crate) fn brand(&mut self, id: &str) -> &mut Brand {
        let index = self.index_of(id);
        &mut self.brands[index]
    }

    fn index_of(&mut self, id: &str) -> usize {
        let known = self.brands.iter().position(|brand| brand.id == id);
        known.unwrap_or_else(|| {
            self.brands.push(Brand::new(id));
            self.brands.len() - 1
        })
    }

    /// Where the brand is that an order is for.
    pub(crate) fn ordering_brand(&self, id: Option<&str>) -> Result<usize, Problem> {
        let index = match id {
            Some(id) => self.brands.iter().position(|brand| brand.id == id),
            None => self.current,
        };
        let index = index.filter(|&index| self.brands[index].is_configured);
        index.ok_or(Problem::NotConfigured)
    }

    /// Counts a call.
    pub(crate) fn admit(&mut self, now: Duration) -> Result<(), Problem> {
        self.limit.as_mut().map_or(Ok(()), |limit| limit.admit(now))
    }

    pub(crate) fn charge(&mut self, price: u64, upgrade_url: &str) -> Result<(), Problem> {
        let exhausted = || Problem::CreditsExhausted {
            remaining: self.credits,
            upgrade_url: upgrade_url.to_owned(),
        };
        self.credits = self.credits.checked_sub(price).ok_or_else(exhausted)?;
        Ok(())
    }
}

/// A limit on calls that lives on the service's time.
struct Limit {
    limiter: RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>,
    clock: FakeRelativeClock,
    now: Duration,
}

impl Limit {
    fn new(calls: NonZeroU32, per: Duration) -> Option<Self> {
        let quota = Quota::with_period(per / calls.get())?.allow_burst(calls);
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::direct_with_clock(quota, clock.clone());
        Some(Self { limiter, clock, now: Duration::ZERO })
    }

    fn admit(&mut self, now: Duration) -> Result<(), Problem> {
        self.clock.advance(now.saturating_sub(self.now));
        self.now = self.now.max(now);
        let refused = self.limiter.check().err();
        refused.map_or(Ok(()), |until| {
            Err(Problem::RateLimitExceeded { wait: until.wait_time_from(self.clock.now()) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_limit_refills_with_the_services_time_and_says_when() {
        let mut limit = Limit::new(NonZeroU32::new(2).unwrap(), 10 * SECOND).unwrap();
        let wait = |wait| Err(Problem::RateLimitExceeded { wait });
        assert_eq!(limit.admit(SECOND), Ok(()));
        assert_eq!(limit.admit(SECOND), Ok(()));
        assert_eq!(limit.admit(SECOND), wait(5 * SECOND));
        assert_eq!(limit.admit(4 * SECOND), wait(2 * SECOND));
        assert_eq!(limit.admit(6 * SECOND), Ok(()));
        assert_eq!(limit.admit(6 * SECOND), wait(5 * SECOND));
    }
}
