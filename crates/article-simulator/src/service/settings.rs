use std::{fmt, num::NonZeroU32, ops::RangeInclusive, time::Duration};

use crate::{InvalidTarget, Rule, Target};

/// The brand of a tenant that names none.
const BRAND: &str = "brand_1";

/// What a [`Service`](crate::Service) is like.
///
/// ```
/// use article_simulator::{Service, Settings, Tenant};
///
/// let service = Service::new(Settings { seed: 7, tenants: vec![Tenant::new("sk-1")], ..Settings::default() });
/// assert_eq!(service.credits("sk-1"), Some(1000));
/// assert_eq!(service.credits("sk-2"), None);
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// Everything that is drawn at random is drawn from it.
    pub seed: u64,
    /// What stands in front of `/v1`, and of the images that results name.
    pub base_url: String,
    /// Who may call.
    pub tenants: Vec<Tenant>,
    /// How long jobs take, from the order to the end.
    pub generation: RangeInclusive<Duration>,
    /// What an article costs.
    pub price: u64,
    /// How many calls a key may make in how much time, if that is limited.
    pub rate_limit: Option<(NonZeroU32, Duration)>,
    /// What goes wrong.
    pub faults: Vec<Rule>,
    /// How many attempts are remembered; the oldest are forgotten first.
    pub attempts_kept: usize,
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
            attempts_kept: 10_000,
        }
    }
}

/// An API key and what it is good for.
///
/// ```
/// use article_simulator::Tenant;
///
/// let tenant = Tenant { credits: 10, ..Tenant::new("sk-1") };
/// assert!(!tenant.has_paid_plan);
/// assert!(!format!("{tenant:?}").contains("sk-1"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Without the scheme word.
    pub api_key: String,
    /// Those that it starts with.
    pub credits: u64,
    /// Whether it may order what asks for a plan.
    pub has_paid_plan: bool,
    /// A brand that is configured from the start, so that articles can be ordered at once.
    pub brand_id: Option<String>,
    /// Where that brand's articles are delivered.
    pub targets: Vec<Target>,
}

impl Tenant {
    /// A thousand credits, no plan, no brand.
    ///
    /// ```
    /// assert_eq!(article_simulator::Tenant::new("sk-1").credits, 1000);
    /// ```
    #[must_use]
    pub fn new(api_key: &str) -> Self {
        Self {
            api_key: api_key.to_owned(),
            credits: 1000,
            has_paid_plan: false,
            brand_id: None,
            targets: Vec::new(),
        }
    }

    /// Delivers the brand's articles there. Where no brand is named, it is `brand_1`.
    ///
    /// # Errors
    ///
    /// Nothing can be delivered to that URL, or with that token.
    ///
    /// ```
    /// use article_simulator::Tenant;
    ///
    /// let tenant = Tenant::new("sk-1").deliver_to("http://127.0.0.1:3000/webhooks/articles", "Bearer secret")?;
    /// assert_eq!(tenant.brand_id.as_deref(), Some("brand_1"));
    /// assert!(tenant.deliver_to("127.0.0.1:3000", "Bearer secret").is_err()); // no scheme
    /// # Ok::<(), article_simulator::InvalidTarget>(())
    /// ```
    pub fn deliver_to(mut self, url: &str, auth_token: &str) -> Result<Self, InvalidTarget> {
        self.targets.push(Target::publish(url, auth_token)?);
        self.brand_id.get_or_insert_with(|| BRAND.to_owned());
        Ok(self)
    }
}

/// Without the key.
impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenant")
            .field("credits", &self.credits)
            .field("has_paid_plan", &self.has_paid_plan)
            .field("brand_id", &self.brand_id)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}
