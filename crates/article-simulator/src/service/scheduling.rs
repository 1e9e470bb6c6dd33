use std::{sync::Arc, time::Duration};

use crate::{
    Attempt, Fault, Outcome, Push, Service,
    fault::{Occasion, Site},
    service::{
        brand::Target,
        delivery::{Delivery, pause_after},
    },
};

/// So much is handed out at once, so that a million deliveries at the same second do not become a million bodies.
const BATCH: usize = 1024;

impl Service {
    /// What is to be sent now, in order of time: no more than some thousand at once, so ask again while
    /// [`next_due`](Self::next_due) is not later than now. The outcome of each belongs into [`pushed`](Self::pushed).
    ///
    /// ```
    /// use std::time::Duration;
    /// use article_simulator::{Service, Settings};
    /// assert!(Service::new(Settings::default()).due(Duration::from_secs(3600)).is_empty());
    /// ```
    #[must_use = "what is due is sent by whoever asked"]
    pub fn due(&mut self, now: Duration) -> Vec<Push> {
        self.end_jobs(now);
        let due = std::iter::from_fn(|| self.deliveries.take_due(now)).take(BATCH);
        let due: Vec<_> = due.collect();
        due.into_iter()
            .map(|(_, delivery)| Push { at: now, recipe: self.recipe(delivery.job), delivery })
            .collect()
    }

    /// Takes note of what became of an attempt, and enters its retry if the document wants one.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use article_simulator::{Outcome, Push, Service};
    /// fn refuse_everything(service: &mut Service, now: Duration) {
    ///     for push in service.due(now) {
    ///         service.pushed(now, &push, Outcome::status(503));
    ///     }
    /// }
    /// ```
    pub fn pushed(&mut self, now: Duration, push: &Push, outcome: Outcome) {
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
        // The second of two equal deliveries is an accident of the way: the service knows of one.
        if is_done || delivery.is_duplicate {
            return;
        }
        if let Some(pause) = pause_after(delivery.attempt) {
            let next = Delivery { attempt: delivery.attempt + 1, ..delivery.clone() };
            self.deliver(now.saturating_add(pause), next);
        }
    }

    /// Ends the jobs whose time has come: refunds, or delivers.
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
                self.deliver(at, first(job, target, target_number));
            }
        }
    }

    fn deliver(&mut self, mut at: Duration, mut delivery: Delivery) {
        delivery.faults = self.faults_of(&delivery);
        for fault in &delivery.faults {
            if let Fault::Late(by) = fault {
                at = at.saturating_add(*by);
            }
        }
        if delivery.faults.contains(&Fault::Duplicate) {
            let twin = Delivery { is_duplicate: true, ..delivery.clone() };
            self.deliveries.enter(at, delivery);
            self.deliveries.enter(at, twin);
        } else {
            self.deliveries.enter(at, delivery);
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
        let occasion =
            Occasion { job_id: Some(&job_id), topic: Some(topic), attempt: Some(attempt), number };
        self.plan.strike(Site::Delivery, &occasion)
    }
}

fn first(job: usize, target: Arc<Target>, target_number: u16) -> Delivery {
    Delivery { job, target, target_number, attempt: 1, is_duplicate: false, faults: Vec::new() }
}
