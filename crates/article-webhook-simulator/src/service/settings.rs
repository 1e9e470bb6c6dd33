use std::{num::NonZeroU32, ops::RangeInclusive, time::Duration};

use crate::{Rule, Tenant};

/// The settings of a [`Service`](crate::Service).
///
/// ```
/// use article_webhook_simulator::{Service, Settings, Tenant};
///
/// let service = Service::new(Settings { seed: 7, tenants: vec![Tenant::new("sk-1")], ..Settings::default() });
/// assert_eq!(service.credits("sk-1"), Some(1000));
/// assert_eq!(service.credits("sk-2"), None);
/// ```
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a literal with `..Settings::default()`"
)]
pub struct Settings {
    /// The seed of everything random.
    pub seed: u64,
    /// The part of the URLs before `/v1`, and before the images of results.
    pub base_url: String,
    /// The customers of the service.
    pub tenants: Vec<Tenant>,
    /// How long jobs take, from the order to the end.
    pub generation: RangeInclusive<Duration>,
    /// The price of an article, in credits.
    pub price: u64,
    /// The number of calls that each key may make in a period, if there is a limit. A period of less than a nanosecond
    /// per call means no limit.
    pub rate_limit: Option<(NonZeroU32, Duration)>,
    /// The rules for what goes wrong.
    pub faults: Vec<Rule>,
    /// A literal without `..Settings::default()` would not compile with a version that has more fields.
    #[doc(hidden)]
    pub more: (),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            base_url: "http://simulator.test".to_owned(),
            tenants: Vec::new(),
            generation: Duration::from_secs(30)..=Duration::from_secs(180),
            price: 1,
            rate_limit: None,
            faults: Vec::new(),
            more: (),
        }
    }
}
