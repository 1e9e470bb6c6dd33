use super::{Effect, Entries, Jobs, LoadedBody, Mark, Next, Script, Tables};
use crate::{
    Body, EntryKey, Error,
    call::{Claim, Claimed, Claims, Events, Lease},
    rules::{ClaimDecision, Claiming, JobRows, Row},
    timestamp::later,
};

/// An entry that is about to be handed out.
struct Leased {
    lease: Lease,
    runs_alone: bool,
    /// Its row before the claim.
    before: Row,
}

impl Script for Claim {
    type Output = Claims;

    fn effect(&self) -> Effect {
        Effect::Leases
    }

    async fn run(&self, tables: &mut dyn Tables) -> Result<Claims, Error> {
        let due = tables.entries(Entries::Due(*self)).await?;
        let now = tables.now();
        let paused_since = tables.since(Mark::Paused).await?;
        if paused_since.is_some() {
            let next_due = Some(later(now, Self::PAUSED_INTERVAL));
            return Ok(Claims { next_due, paused_since, ..Claims::default() });
        }
        let mut jobs = tables.jobs(Jobs::OfEntries(due.clone())).await?;

        let mut claims = Claims::default();
        let mut claiming = Claiming::new(*self, now).of_node(tables.node());
        let mut leased = Vec::new();
        for id in due {
            let Some(job) = job_of(&mut jobs, id) else { continue };
            let key = job.key_of(id).filter(|_| job.row_of(id).is_some_and(|row| row.is_due(now)));
            let (Some(key), Some(before)) = (key, job.row_of(id).cloned()) else { continue };
            let decision = job.change(id, now, |row| claiming.decide(id, row)).flatten();
            let Some(decision) = decision else { break };
            claims.expired += u32::from(before.has_expired_lease(now));
            match decision {
                ClaimDecision::Discarded => claims.discarded.push(key),
                ClaimDecision::Leased { lease, runs_alone } => {
                    leased.push(Leased { lease, runs_alone, before });
                }
            }
        }

        let bodies = tables.bodies(leased.iter().map(|leased| leased.lease.id).collect()).await?;
        for (Leased { lease, runs_alone, before }, bodies) in leased.into_iter().zip(bodies) {
            let Some(job) = job_of(&mut jobs, lease.id) else { continue };
            match sound(bodies) {
                Ok(bodies) => {
                    let claimed = job.claimed(lease, bodies);
                    claims.claimed.extend(claimed.map(|claimed| Claimed { runs_alone, ..claimed }));
                }
                // It costs the entry no attempt.
                Err(damage) => drop(job.change(lease.id, now, |row| {
                    *row = before;
                    row.mark_corrupt(damage, now);
                })),
            }
        }
        tables.save(&mut jobs).await?;

        claims.alone_waits = claiming.alone_waits();
        let claimed = claims.claimed.iter().map(|claimed| claimed.lease.id).collect();
        let mut which = vec![Next::Entry(self.events, claimed)];
        if self.events == Events::ExceptFailures {
            which.push(Next::Failure);
        }
        let next = tables.next(which).await?;
        claims.next_due = next.first().copied().flatten();
        claims.failures_wait = next.get(1).copied().flatten().is_some_and(|at| at <= now);
        Ok(claims)
    }
}

fn job_of(jobs: &mut [JobRows], entry: i64) -> Option<&mut JobRows> {
    jobs.iter_mut().find(|job| job.entry_of(entry).is_some())
}

/// The bodies, or what is damaged if no body can be used.
fn sound(bodies: Vec<LoadedBody>) -> Result<Vec<Body>, String> {
    let is_sound = |loaded: &LoadedBody| loaded.damage.is_none() && loaded.body.bytes.is_some();
    if bodies.iter().any(is_sound) {
        return Ok(bodies.into_iter().map(|loaded| loaded.body).collect());
    }
    let damage = bodies.into_iter().enumerate().find_map(|(number, loaded)| {
        loaded.damage.map(|damage| format!("body {}: {damage}", number + 1))
    });
    Err(damage.unwrap_or_else(|| "its body is missing".to_owned()))
}

impl JobRows {
    fn row_of(&self, entry: i64) -> Option<&Row> {
        self.entry_of(entry)?.row.get()
    }

    fn key_of(&self, entry: i64) -> Option<EntryKey> {
        self.entry_of(entry).map(|entry| self.key(entry))
    }

    fn claimed(&self, lease: Lease, bodies: Vec<Body>) -> Option<Claimed> {
        let entry = self.entry_of(lease.id)?;
        Some(Claimed {
            lease,
            key: self.key_of(lease.id)?,
            attempt: entry.row.get()?.attempts,
            received_at: entry.received_at,
            runs_alone: false,
            bodies,
        })
    }
}
