use super::{
    context::{FaultContext, FaultSite},
    fault::Fault,
    rule::Rule,
};
use crate::seeded_rng::draw;

/// The rules, and how often each has matched.
#[derive(Debug)]
pub(crate) struct Plan {
    seed: u64,
    rules: Vec<(Rule, u64)>,
}

impl Plan {
    pub(crate) fn new(seed: u64, rules: Vec<Rule>) -> Self {
        let rules = rules.into_iter().map(|rule| (rule, 0)).collect();
        Self { seed, rules }
    }

    pub(crate) fn replace(&mut self, rules: Vec<Rule>) {
        *self = Self::new(self.seed, rules);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The faults for this context, in the order of the rules.
    pub(crate) fn draw_faults(
        &mut self,
        site: FaultSite,
        context: &FaultContext<'_>,
    ) -> Vec<Fault> {
        let [one, two, three] = context.number;
        let seed = self.seed;
        let mut faults = Vec::new();
        for (index, (rule, matches)) in self.rules.iter_mut().enumerate() {
            if !rule.matches(site, context) {
                continue;
            }
            *matches += 1;
            let drawn = draw(seed, &[index as u64, one, two, three]).f64();
            if rule.applies(*matches, drawn) {
                faults.push(rule.fault());
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(rule: Rule, site: FaultSite, context: impl Fn(u64) -> FaultContext<'static>) -> usize {
        let mut plan = Plan::new(7, vec![rule]);
        (0..1000).map(|number| plan.draw_faults(site, &context(number)).len()).sum()
    }

    fn delivery(number: u64) -> FaultContext<'static> {
        let (topic, attempt) = (Some("Shoes"), Some(1 + (number % 4) as u8));
        FaultContext { job_id: Some("job_1"), topic, attempt, number: [number, 0, 0] }
    }

    #[test]
    fn a_rule_applies_where_all_its_conditions_are_met() {
        let cut = || Rule::new(Fault::Cut);
        for (rule, times) in [
            (cut(), 1000),
            (cut().topic("Shoes").job("job_1"), 1000),
            (cut().topic("Hats"), 0),
            (cut().job("job_2"), 0),
            (cut().attempt(2), 250),
            (cut().nth(3), 1),
            (cut().attempt(2).nth(250), 1),
            (cut().attempt(2).nth(251), 0),
            (cut().probability(0.0), 0),
            (Rule::new(Fault::ApiMalformed), 0),
        ] {
            assert_eq!(count(rule.clone(), FaultSite::Delivery, delivery), times, "{rule:?}");
        }
    }
}
