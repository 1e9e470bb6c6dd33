use super::{
    context::{FaultContext, FaultSite},
    fault::Fault,
};

/// When a [`Fault`] happens: every time, unless conditions are set. All conditions must be met.
///
/// ```
/// use article_webhook_simulator::{Fault, Rule};
///
/// let rule = Rule::new(Fault::Cut).topic("Shoes").attempt(1); // the retry is sent without the fault
/// assert_eq!(rule.fault(), Fault::Cut);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Rule {
    fault: Fault,
    job_id: Option<String>,
    topic: Option<String>,
    attempt: Option<u8>,
    nth: Option<u64>,
    probability: f64,
}

impl Rule {
    /// A rule without conditions.
    pub fn new(fault: Fault) -> Self {
        Self { fault, job_id: None, topic: None, attempt: None, nth: None, probability: 1.0 }
    }

    /// Only for one job: its deliveries, and the calls that read it.
    pub fn job(self, job_id: &str) -> Self {
        Self { job_id: Some(job_id.to_owned()), ..self }
    }

    /// Only for the jobs of one topic: their orders, their pipeline and their deliveries.
    pub fn topic(self, topic: &str) -> Self {
        Self { topic: Some(topic.to_owned()), ..self }
    }

    /// Only at this attempt of a delivery.
    ///
    /// # Panics
    ///
    /// The number is not from 1 to 4.
    pub fn attempt(self, attempt: u8) -> Self {
        assert!((1..=4).contains(&attempt), "the attempt must be from 1 to 4, not {attempt}");
        Self { attempt: Some(attempt), ..self }
    }

    /// Only once: the `n`th time, counted from 1, that all other conditions are met.
    ///
    /// # Panics
    ///
    /// The number is 0.
    pub fn nth(self, n: u64) -> Self {
        assert!(n > 0, "n must be at least 1: the first time is 1");
        Self { nth: Some(n), ..self }
    }

    /// Only with this probability where all other conditions are met.
    ///
    /// # Panics
    ///
    /// The probability is not from 0 to 1.
    pub fn probability(self, probability: f64) -> Self {
        let is_valid = (0.0..=1.0).contains(&probability);
        assert!(is_valid, "the probability must be from 0 to 1, not {probability}");
        Self { probability, ..self }
    }

    /// The fault.
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Whether all conditions but `nth` and the probability are met.
    pub(super) fn matches(&self, site: FaultSite, context: &FaultContext<'_>) -> bool {
        let same = |own: &Option<String>, other: Option<&str>| {
            own.as_deref().is_none_or(|own| Some(own) == other)
        };
        self.fault.site() == site
            && same(&self.job_id, context.job_id)
            && same(&self.topic, context.topic)
            && self.attempt.is_none_or(|own| Some(own) == context.attempt)
    }

    /// Whether the fault happens at this match of the rule, given a number drawn from 0 to 1.
    pub(super) fn applies(&self, count: u64, drawn: f64) -> bool {
        self.nth.is_none_or(|nth| nth == count) && drawn < self.probability
    }
}
