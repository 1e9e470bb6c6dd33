use crate::{
    Fault,
    fault::{Occasion, Site},
};

/// When a [`Fault`] happens: whenever it can, unless it is narrowed down. Conditions add up.
///
/// ```
/// use article_simulator::{Fault, Rule};
///
/// let rule = Rule::new(Fault::Cut).topic("Shoes").attempt(1); // the retry gets through
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
    /// Happens every time.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule};
    /// assert_eq!(Rule::new(Fault::Duplicate).fault(), Fault::Duplicate);
    /// ```
    pub fn new(fault: Fault) -> Self {
        Self { fault, job_id: None, topic: None, attempt: None, nth: None, probability: 1.0 }
    }

    /// Happens to one job alone: its deliveries, and the calls that ask for it.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule};
    /// let rule = Rule::new(Fault::WrongToken).job("job_1");
    /// # let _ = rule;
    /// ```
    pub fn job(self, job_id: &str) -> Self {
        Self { job_id: Some(job_id.to_owned()), ..self }
    }

    /// Happens to the jobs of one topic alone: their orders, their pipeline, their deliveries.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule, Step};
    /// let rule = Rule::new(Fault::StepFails(Step::Draft)).topic("Shoes");
    /// # let _ = rule;
    /// ```
    pub fn topic(self, topic: &str) -> Self {
        Self { topic: Some(topic.to_owned()), ..self }
    }

    /// Happens at one of the attempts at a delivery alone: 1 to 4.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule};
    /// let rule = Rule::new(Fault::Truncated).attempt(1);
    /// # let _ = rule;
    /// ```
    pub fn attempt(self, attempt: u8) -> Self {
        Self { attempt: Some(attempt), ..self }
    }

    /// Happens once: the `n`th time, from 1, that everything else about the rule is met.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule};
    /// let rule = Rule::new(Fault::ApiStatus(503)).nth(3); // the third call
    /// # let _ = rule;
    /// ```
    pub fn nth(self, n: u64) -> Self {
        Self { nth: Some(n), ..self }
    }

    /// Happens with that probability, 0 to 1, where everything else about the rule is met.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule};
    /// let rule = Rule::new(Fault::Duplicate).probability(0.01);
    /// # let _ = rule;
    /// ```
    pub fn probability(self, probability: f64) -> Self {
        Self { probability, ..self }
    }

    /// What happens.
    ///
    /// ```
    /// # use article_simulator::{Fault, Rule};
    /// assert_eq!(Rule::new(Fault::Cut).fault(), Fault::Cut);
    /// ```
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Whether everything but `nth` and the probability is met.
    pub(crate) fn fits(&self, site: Site, occasion: &Occasion<'_>) -> bool {
        let same = |own: &Option<String>, other: Option<&str>| {
            own.as_deref().is_none_or(|own| Some(own) == other)
        };
        self.fault.site() == site
            && same(&self.job_id, occasion.job_id)
            && same(&self.topic, occasion.topic)
            && self.attempt.is_none_or(|own| Some(own) == occasion.attempt)
    }

    /// Whether the rule is met at its `count`th fit, given a number drawn from 0 to 1.
    pub(crate) fn strikes(&self, count: u64, drawn: f64) -> bool {
        self.nth.is_none_or(|nth| nth == count) && drawn < self.probability
    }
}
