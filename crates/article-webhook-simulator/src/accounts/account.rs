use std::{num::NonZeroU32, sync::Arc, time::Duration};

use super::{brand::Brand, rate_limit::RateLimit, tenant::Tenant};
use crate::response::ApiError;

/// The account of one API key.
pub(crate) struct Account {
    pub(crate) api_key: String,
    pub(crate) credits: u64,
    pub(crate) has_paid_plan: bool,
    pub(crate) brands: Vec<Brand>,
    /// The index of the brand that was configured last, for orders that name none.
    current: Option<usize>,
    rate_limit: Option<RateLimit>,
}

impl Account {
    pub(crate) fn new(tenant: Tenant, rate_limit: Option<(NonZeroU32, Duration)>) -> Self {
        let mut account = Self {
            api_key: tenant.api_key,
            credits: tenant.credits,
            has_paid_plan: tenant.has_paid_plan,
            brands: Vec::new(),
            current: None,
            rate_limit: rate_limit.and_then(|(calls, period)| RateLimit::new(calls, period)),
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

    /// The brand with this id. It is created if it does not exist.
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

    /// The index of the brand that an order is for.
    pub(crate) fn ordering_brand(&self, id: Option<&str>) -> Result<usize, ApiError> {
        let index = match id {
            Some(id) => self.brands.iter().position(|brand| brand.id == id),
            None => self.current,
        };
        let index = index.filter(|&index| self.brands[index].is_configured);
        index.ok_or(ApiError::NotConfigured)
    }

    /// Counts a call.
    pub(crate) fn admit(&mut self, now: Duration) -> Result<(), ApiError> {
        self.rate_limit.as_mut().map_or(Ok(()), |limit| limit.admit(now))
    }

    pub(crate) fn charge(&mut self, price: u64, upgrade_url: &str) -> Result<(), ApiError> {
        let exhausted = || ApiError::CreditsExhausted {
            remaining: self.credits,
            upgrade_url: upgrade_url.to_owned(),
        };
        self.credits = self.credits.checked_sub(price).ok_or_else(exhausted)?;
        Ok(())
    }
}
