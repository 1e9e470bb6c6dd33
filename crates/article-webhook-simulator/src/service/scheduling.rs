use std::{sync::Arc, time::Duration};

use super::state::Service;
use crate::{
    Attempt, DeliveryOutcome, Fault, Push, Target,
    deliveries::{Delivery, pause_after},
    faults::{FaultContext, FaultSite},
};

/// The maximum number of attempts at once. A million deliveries in the same second must not become a million bodies.
const BATCH: usize = 1024;

impl Service {
    /// The attempts that are due, in order of time: at most 1,024 at once, so call it again while
    /// [`next_due`](Self::next_due) is not later than `now`. Report the outcome of each to [`pushed`](Self::pushed).
    #[must_use = "the caller sends what is due"]
    pub fn due(&mut self, now: Duration) -> Vec<Push> {
        self.end_jobs(now);
        let due = std::iter::from_fn(|| self.deliveries.take_due(now)).take(BATCH);
        let due: Vec<_> = due.collect();
        due.into_iter()
            .map(|(_, delivery)| Push { at: now, recipe: self.recipe(delivery.job), delivery })
            .collect()
    }

    /// Records the outcome of an attempt, and schedules a retry if the document requires one.
    pub fn pushed(&mut self, now: Duration, push: &Push, outcome: DeliveryOutcome) {
        let Push { at, delivery, recipe } = push;
        let is_lost = delivery.faults.contains(&Fault::AnswerLost);
        let is_done = outcome.is_success() && !is_lost;
        self.attempts.add(Attempt {
            job_id: recipe.job_id.clone(),
            url: delivery.target.url.clone(),
            number: delivery.attempt,
            at: *at,
            faults: delivery.faults.clone(),
            outcome,
        });
        // A duplicate arises in transit: for the service there is one delivery, which it retries once.
        if is_done || delivery.is_duplicate {
            return;
        }
        if let Some(pause) = pause_after(delivery.attempt) {
            let next = Delivery { attempt: delivery.attempt + 1, ..delivery.clone() };
            self.schedule(now.saturating_add(pause), next);
        }
    }

    /// Ends the jobs that are due: refunds their credits, or schedules their deliveries.
    pub(crate) fn end_jobs(&mut self, now: Duration) {
        while let Some((at, job)) = self.endings.take_due(now) {
            let record = &mut self.jobs[job];
            record.is_over = true;
            let account = &mut self.accounts[record.account];
            if record.fails_at.is_some() {
                account.credits += record.price;
                continue;
            }
            let targets = account.brands[record.brand].targets.iter().chain(&record.webhook);
            let targets: Vec<_> = targets.cloned().collect();
            for (target_number, target) in (0..).zip(targets) {
                self.schedule(at, first(job, target, target_number));
            }
        }
    }

    fn schedule(&mut self, mut at: Duration, mut delivery: Delivery) {
        delivery.faults = self.faults_of(&delivery);
        for fault in &delivery.faults {
            if let Fault::Late(by) = fault {
                at = at.saturating_add(*by);
            }
        }
        if delivery.faults.contains(&Fault::Duplicate) {
            let duplicate = Delivery { is_duplicate: true, ..delivery.clone() };
            self.deliveries.add(at, delivery);
            self.deliveries.add(at, duplicate);
        } else {
            self.deliveries.add(at, delivery);
        }
    }

    fn faults_of(&mut self, delivery: &Delivery) -> Vec<Fault> {
        if self.plan.is_empty() {
            return Vec::new();
        }
        let job_id = self.ids.id(delivery.job);
        let topic = &self.jobs[delivery.job].topic;
        let attempt = delivery.attempt;
        let number = [delivery.job as u64, delivery.target_number.into(), attempt.into()];
        let context = FaultContext {
            job_id: Some(&job_id),
            topic: Some(topic),
            attempt: Some(attempt),
            number,
        };
        self.plan.draw_faults(FaultSite::Delivery, &context)
    }
}

fn first(job: usize, target: Arc<Target>, target_number: u16) -> Delivery {
    Delivery { job, target, target_number, attempt: 1, is_duplicate: false, faults: Vec::new() }
}
