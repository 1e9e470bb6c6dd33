use crate::{Fault, Rule, draw::draw, fault::Site};

/// What a fault could happen to now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Occasion<'a> {
    pub(crate) job_id: Option<&'a str>,
    pub(crate) topic: Option<&'a str>,
    pub(crate) attempt: Option<u8>,
    /// Tells it from all others of its site, for the draw.
    pub(crate) number: [u64; 3],
}

/// The rules, and how often each has fitted.
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

    /// What goes wrong this time, in the order of the rules.
    pub(crate) fn strike(&mut self, site: Site, occasion: &Occasion<'_>) -> Vec<Fault> {
        let [one, two, three] = occasion.number;
        let seed = self.seed;
        let mut faults = Vec::new();
        for (index, (rule, fits)) in self.rules.iter_mut().enumerate() {
            if !rule.fits(site, occasion) {
                continue;
            }
            *fits += 1;
            let drawn = draw(seed, &[index as u64, one, two, three]).f64();
            if rule.strikes(*fits, drawn) {
                faults.push(rule.fault());
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(rule: Rule, site: Site, occasion: impl Fn(u64) -> Occasion<'static>) -> usize {
        let mut plan = Plan::new(7, vec![rule]);
        (0..1000).map(|number| plan.strike(site, &occasion(number)).len()).sum()
    }

    fn delivery(number: u64) -> Occasion<'static> {
        let (topic, attempt) = (Some("Shoes"), Some(1 + (number % 4) as u8));
        Occasion { job_id: Some("job_1"), topic, attempt, number: [number, 0, 0] }
    }

    #[test]
    fn a_rule_strikes_where_all_its_conditions_are_met() {
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
            assert_eq!(count(rule.clone(), Site::Delivery, delivery), times, "{rule:?}");
        }
    }

    #[test]
    fn a_probability_is_met_about_as_often_as_it_says_and_always_at_the_same_times() {
        let rule = || Rule::new(Fault::Duplicate).probability(0.1);
        assert!((70..130).contains(&count(rule(), Site::Delivery, delivery)));
        let times = |seed| {
            let mut plan = Plan::new(seed, vec![rule()]);
            (0..1000).map(|n| plan.strike(Site::Delivery, &delivery(n)).len()).collect::<Vec<_>>()
        };
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
    }

    #[test]
    fn two_rules_may_strike_at_once() {
        let rules = vec![Rule::new(Fault::WrongToken), Rule::new(Fault::Chunked)];
        let faults = Plan::new(7, rules).strike(Site::Delivery, &delivery(0));
        assert_eq!(faults, [Fault::WrongToken, Fault::Chunked]);
    }
}
