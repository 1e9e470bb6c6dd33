//! The script that keeps the body of a refused delivery.

use super::{Effect, Jobs, Script, Tables, order::resolve_intents};
use crate::{
    Error,
    call::{Quarantine, Quarantined},
    rules::left_for,
};

impl Script for Quarantine {
    type Output = Quarantined;

    fn effect(&self) -> Effect {
        Effect::Adds(self.arrival.bytes.len())
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Quarantined, Error> {
        let Self { arrival, cause, expect, budget } = self;
        let named = Jobs::Named(vec![arrival.key.job_id.clone()]);
        let mut jobs = tables.jobs(named).await?;
        let now = tables.now();
        let mut quarantined = Quarantined::NotNeeded;
        for job in &mut jobs {
            // What is not kept costs no look at all that is.
            let left = match job.quarantine_not_needed(arrival) {
                Some(_) => 0,
                None => left_for(arrival, *budget, tables.quarantine_cost().await?),
            };
            quarantined = job.quarantine(arrival, cause, left, now);
            expect.iter().for_each(|expect| _ = job.expect(expect, now));
        }
        tables.save(&mut jobs).await?;
        resolve_intents(tables, expect.as_slice()).await?;
        Ok(quarantined)
    }
}
