use std::fmt;

use super::target::{InvalidTarget, Target};

/// The brand of a tenant that sets none.
const DEFAULT_BRAND: &str = "brand_1";

/// A customer of a [`Service`](crate::Service): an API key and its account.
///
/// ```
/// use article_webhook_simulator::Tenant;
///
/// let tenant = Tenant { credits: 10, ..Tenant::new("sk-1") };
/// assert!(!format!("{tenant:?}").contains("sk-1"));
///
/// let tenant = tenant.deliver_to("http://127.0.0.1:3000/webhooks/articles", "Bearer secret")?;
/// assert_eq!(tenant.brand_id.as_deref(), Some("brand_1"));
/// assert!(tenant.deliver_to("127.0.0.1:3000", "Bearer secret").is_err()); // no scheme
/// # Ok::<(), article_webhook_simulator::InvalidTarget>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is written as a literal with `..Tenant::new(key)`"
)]
pub struct Tenant {
    /// The key, without a scheme word.
    pub api_key: String,
    /// The credits at the start.
    pub credits: u64,
    /// Whether orders may use features that need a paid plan.
    pub has_paid_plan: bool,
    /// A brand that is configured from the start, so that articles can be ordered at once.
    pub brand_id: Option<String>,
    /// Where the articles of this brand are delivered.
    pub targets: Vec<Target>,
    /// A literal without `..Tenant::new(key)` would not compile with a version that has more fields.
    #[doc(hidden)]
    pub more: (),
}

impl Tenant {
    /// A tenant with 1,000 credits, without a plan and without a brand.
    #[must_use]
    pub fn new(api_key: &str) -> Self {
        Self {
            api_key: api_key.to_owned(),
            credits: 1000,
            has_paid_plan: false,
            brand_id: None,
            targets: Vec::new(),
            more: (),
        }
    }

    /// Adds a publish target of the brand, which is `brand_1` unless it is named.
    ///
    /// # Errors
    ///
    /// Nothing can be delivered to this URL, or with this token.
    pub fn deliver_to(mut self, url: &str, auth_token: &str) -> Result<Self, InvalidTarget> {
        self.targets.push(Target::publish(url, auth_token)?);
        self.brand_id.get_or_insert_with(|| DEFAULT_BRAND.to_owned());
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
