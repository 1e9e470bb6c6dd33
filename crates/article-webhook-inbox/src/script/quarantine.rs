//! The script that keeps the body of a refused delivery.

use super::{Effect, Jobs, Script, Tables, intents_of, row_of};
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
        let Self { arrival, cause, expect, statement, budget } = self;
        let named = Jobs::Named(vec![arrival.key.job_id.clone()]);
        let mut jobs = tables.jobs(named).await?;
        let mut intents = intents_of(tables, arrival.intent.clone().into_iter()).await?;
        let now = tables.now();
        let mut quarantined = Quarantined::NotNeeded;
        for job in &mut jobs {
            // The answer to a poll does not bring back a job that was erased meanwhile.
            if expect.is_none() && job.expected.get().is_none() {
                continue;
            }
            // What is not kept costs no look at all that is.
            let left = match job.quarantine_not_needed(arrival) {
                Some(_) => 0,
                None => left_for(arrival, *budget, tables.quarantine_cost().await?),
            };
            let mut intent = row_of(&mut intents, arrival.intent.as_deref());
            let is_other =
                intent.as_ref().is_some_and(|(name, intent)| !job.is_admitted(name, intent));
            quarantined = match &mut intent {
                Some((_, intent)) if is_other => {
                    let kept = intent.keeps_refused(&job.job_id)
                        && job.quarantine(arrival, cause, left, now).is_kept();
                    if kept {
                        intent.note_refused(&job.job_id);
                    }
                    match intent.has_too_many_jobs_for(&job.job_id) {
                        true => Quarantined::TooManyJobs,
                        false => Quarantined::OtherJob { kept },
                    }
                }
                _ => job.quarantine(arrival, cause, left, now),
            };
            if let Some(expect) = expect {
                let is_named = is_other || expect.intent.is_some();
                job.expect_of(expect, intent.filter(|_| is_named), now);
            }
            if let (Some(statement), false) = (statement, is_other) {
                job.note_statement(*statement);
            }
        }
        tables.save(&mut jobs).await?;
        tables.save_intents(&mut intents).await?;
        Ok(quarantined)
    }
}
