//! Scripts of orders: the intent of each is stored before the call to the API.

use std::time::{Duration, SystemTime};

use article_webhook::{Event, JobId};

use super::{IntentRows, Intents, Jobs, Mark, NamedJobs, Script, Tables, intents_of, row_of};
use crate::{
    Error,
    call::{
        BucketEvent, CallRefused, Expect, Intended, Intent, IntentLease, JobState, Reason, Since,
        Topic,
    },
    rules::{IntentRow, JobRows, MAX_CALL_TIME, NotOrdered},
    timestamp::later,
};

/// Begins an order, unless its intent is known.
#[derive(Debug)]
pub struct Intend {
    /// The name of the intent.
    pub name: Box<str>,
    /// How long the call may take.
    pub within: Duration,
    /// The API key.
    pub key: u64,
    /// What is ordered, if that is known.
    pub topic: Option<Topic>,
    /// Whether an intent whose outcome is unknown, or that was abandoned, is ordered again.
    pub again: bool,
}

impl Script for Intend {
    type Output = Intended;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Intended, Error> {
        let mut intents = named(tables, &self.name).await?;
        let now = tables.now();
        let Some(intent) = intents.first_mut() else { return Err(no_rows()) };
        if let Some(known) = intent.intent(now)
            && !(self.again && known.state.may_be_ordered_again() && intent.row.get_mut().is_some())
        {
            return Ok(Intended::Known(known));
        }
        let is_missing = intent.row.get().is_none();
        let has_gaps = is_missing && tables.since(Mark::Gaps).await?.is_some();
        if has_gaps && !self.again {
            // The order may be one of those that are missing in the ledger.
            let row = IntentRow::new(Duration::ZERO, now);
            return Ok(Intended::Known(row.into_intent(0, self.name.clone(), now)));
        }
        let before = tables.bucket().await?;
        let mut bucket = before;
        if let Err(pause) = bucket.begin_call(self.key, now) {
            return Ok(Intended::Paused(pause));
        }
        if bucket != before {
            tables.save_bucket(bucket).await?;
        }
        let id = intent.row.id;
        match intent.row.get_mut() {
            Some(row) => drop(row.order_again(id, self.within, now)),
            // The call of the intent may be one of those that are missing.
            None if has_gaps => {
                intent.row.set(IntentRow { calls: 2, ..IntentRow::new(self.within, now) });
            }
            None => intent.row.set(IntentRow::new(self.within, now)),
        }
        if let (Some(row), Some(topic)) = (intent.row.get_mut(), &self.topic) {
            row.topic = Some(topic.clone());
        }
        tables.save_intents(&mut intents).await?;
        // A new row has its id only now.
        let lease = intents[0].row.get().map(|row| row.lease(intents[0].row.id));
        lease.map(Intended::Begun).ok_or_else(no_rows)
    }
}

impl IntentRows {
    /// The intent as the ledger shows it.
    #[must_use]
    pub fn intent(&self, now: SystemTime) -> Option<Intent> {
        Some(self.row.get()?.clone().into_intent(self.row.id, self.name.clone(), now))
    }
}

fn no_rows() -> Error {
    Error::unusable("the store returned no rows for an intent: report this as a bug")
}

async fn named(tables: &mut dyn Tables, name: &str) -> Result<Vec<IntentRows>, Error> {
    tables.intents(Intents::Named(vec![name.into()])).await
}

/// The service answered an order with a job. Returns another job that was delivered to the URL of an order in its place, if a
/// handler may have had its article.
#[derive(Debug)]
pub struct Ordered {
    /// The name of the intent.
    pub name: Box<str>,
    /// The job.
    pub job_id: JobId,
    /// When the job is polled for the first time.
    pub at: SystemTime,
    /// The API key.
    pub key: u64,
}

impl Script for Ordered {
    type Output = Option<JobId>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Option<JobId>, Error> {
        let mut jobs = NamedJobs::load(tables, [&self.job_id].into_iter()).await?;
        let job = jobs.get_mut(&self.job_id);
        let known: Option<Box<str>> = job.intent().map(Into::into);
        let mut names = vec![self.name.clone()];
        names.extend(known.clone().filter(|known| *known != self.name));
        let mut intents = tables.intents(Intents::Named(names)).await?;
        let now = tables.now();
        let (mut is_expected, mut unbound) = (true, None);
        for intent in &mut intents {
            if intent.name != self.name {
                // A delivery to the URL of another order bound the job there. The call of that may be under way.
                let (row, until) = (intent.row.get_mut(), later(now, MAX_CALL_TIME));
                if row.is_some_and(|row| row.unbind(&self.job_id, until)) {
                    unbind(tables, job, &intent.name).await?;
                }
            } else if let Some(row) = intent.row.get_mut() {
                let answered = row.answer((&self.name, known.as_deref()), &self.job_id, now);
                (is_expected, unbound) = (answered.is_expected, answered.unbound);
            } else {
                // An intent that is gone begins and ends now.
                let mut row = IntentRow::new(Duration::ZERO, now);
                row.answer((&self.name, known.as_deref()), &self.job_id, now);
                intent.row.set(row);
            }
        }
        let mut handled = None;
        if is_expected {
            let job = Expect::job(self.job_id.clone(), self.at);
            let (intent, key) = (Some(self.name.clone()), Some(self.key));
            let expect = Expect { reason: Reason::Ordered, intent, key, ..job };
            let job = jobs.get_mut(&self.job_id);
            job.expect(&expect, now);
            job.confirm(now);
        }
        if let Some(job_id) = unbound {
            handled = unbind_others(tables, vec![job_id], &self.name).await?;
        }
        tables.save_intents(&mut intents).await?;
        jobs.save(tables).await?;
        accept_key(tables, self.key).await?;
        Ok(handled)
    }
}

/// The job is not that of this intent, to whose URL it was delivered. Returns it if a handler may have had its article.
async fn unbind(
    tables: &mut dyn Tables,
    job: &mut JobRows,
    name: &str,
) -> Result<Option<JobId>, Error> {
    let entry = job.entry(&Event::ArticleComplete).map(|entry| entry.row.id);
    let loaded = tables.bodies(Vec::from_iter(entry)).await?.into_iter().flatten();
    let bodies: Vec<_> = loaded.map(|loaded| loaded.body).collect();
    let is_unhandled = job.unbind(name, &bodies, tables.now());
    Ok((!is_unhandled).then(|| job.job_id.clone()))
}

/// As [`unbind`], of jobs that are known only after others are loaded. If two transactions wait for each other by that, one of them
/// is repeated.
async fn unbind_others(
    tables: &mut dyn Tables,
    job_ids: Vec<JobId>,
    name: &str,
) -> Result<Option<JobId>, Error> {
    let mut jobs = tables.jobs(Jobs::Named(job_ids)).await?;
    let mut handled = None;
    for job in &mut jobs {
        handled = unbind(tables, job, name).await?.or(handled);
    }
    tables.save(&mut jobs).await?;
    Ok(handled)
}

/// The service knows this job, which was delivered to the URL of an order whose answer was lost. It is that of the order, if no
/// other is bound in its place, or if the API did not know that one: an answer about this job shows that it was asked with the
/// right key, so that 72 hours need not pass. Until the API was asked about that one, nothing is decided. Returns the other job if
/// a handler may have had its article.
pub(super) async fn known(
    tables: &mut dyn Tables,
    job: &mut JobRows,
) -> Result<Option<JobId>, Error> {
    let row = job.expected.get().filter(|row| !row.is_provisional());
    let Some(name) = row.and_then(|row| row.unproven.clone()) else { return Ok(None) };
    let mut intents = named(tables, &name).await?;
    let now = tables.now();
    let Some(row) = intents.first_mut().and_then(|intent| intent.row.get_mut()) else {
        job.decide(None);
        return Ok(None);
    };
    let mut handled = None;
    if job.is_admitted(&name, row) {
        row.bind((&name, job.intent()), &job.job_id, now);
        job.decide(Some(name));
    } else {
        // These jobs are known only now, as in `unbind_others`.
        let mut bound = tables.jobs(Jobs::Named(row.provisional.clone())).await?;
        bound.sort_by_key(|other| row.provisional.iter().position(|id| *id == other.job_id));
        if let Some(other) = bound.iter_mut().find(|other| other.is_unknown()) {
            row.replace(&other.job_id, &job.job_id);
            handled = unbind(tables, other, &name).await?;
            job.decide(Some(name));
        } else if !bound.iter().any(JobRows::is_provisional) {
            job.decide(None);
        }
        tables.save(&mut bound).await?;
    }
    tables.save_intents(&mut intents).await?;
    Ok(handled)
}

/// The service does not know this job, whatever an earlier answer reported of it. If a delivery bound it to an order, it is not
/// that of the order. Returns it if a handler may have had its article.
pub(super) async fn not_known(
    tables: &mut dyn Tables,
    job: &mut JobRows,
) -> Result<Option<JobId>, Error> {
    let Some(name) = job.intent().map(Box::<str>::from) else { return Ok(None) };
    let mut intents = named(tables, &name).await?;
    let now = tables.now();
    let row = intents.first_mut().and_then(|intent| intent.row.get_mut());
    let was_bound = row.is_some_and(|row| row.unbind(&job.job_id, now));
    if !was_bound && !job.is_provisional() {
        return Ok(None);
    }
    tables.save_intents(&mut intents).await?;
    unbind(tables, job, &name).await
}

/// An answer of the service ends the pause of a refused key.
pub(super) async fn accept_key(tables: &mut dyn Tables, key: u64) -> Result<(), Error> {
    let mut bucket = tables.bucket().await?;
    if bucket.accept_key(key) {
        tables.save_bucket(bucket).await?;
    }
    Ok(())
}

/// The service has not taken an order.
#[derive(Debug)]
pub struct NotTaken(pub IntentLease);

impl Script for NotTaken {
    type Output = CallRefused;

    async fn run(&self, tables: &mut dyn Tables) -> Result<CallRefused, Error> {
        let mut intents = tables.intents(Intents::Of(self.0.id)).await?;
        let now = tables.now();
        let nothing = CallRefused { is_noted: false, handled: None };
        let Some(intent) = intents.first_mut() else { return Ok(nothing) };
        let Some(row) = intent.row.get_mut() else { return Ok(nothing) };
        let unbound = match row.not_ordered(self.0, now) {
            NotOrdered::Remove { unbound } => {
                intent.row.remove();
                unbound
            }
            NotOrdered::Unknown { unbound } => unbound.into_iter().collect(),
            NotOrdered::Nothing => return Ok(nothing),
        };
        let handled = match unbound.is_empty() {
            true => None,
            false => unbind_others(tables, unbound, &intent.name).await?,
        };
        tables.save_intents(&mut intents).await?;
        Ok(CallRefused { is_noted: true, handled })
    }
}

/// The answer to an order was lost.
#[derive(Debug)]
pub struct OutcomeLost(pub IntentLease);

impl Script for OutcomeLost {
    type Output = bool;

    async fn run(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        let mut intents = tables.intents(Intents::Of(self.0.id)).await?;
        let now = tables.now();
        let row = intents.first_mut().and_then(|intent| intent.row.get_mut());
        let is_lost = row.is_some_and(|row| row.outcome_lost(self.0, now));
        tables.save_intents(&mut intents).await?;
        Ok(is_lost)
    }
}

/// Notes that orders may be missing in the ledger: what is not found is not ordered by itself.
#[derive(Debug)]
pub struct NoteGaps;

impl Script for NoteGaps {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        match tables.since(Mark::Gaps).await? {
            Some(_) => Ok(()),
            None => {
                let since = Since { at: tables.now(), by: None };
                tables.set_since(Mark::Gaps, Some(since)).await
            }
        }
    }
}

/// A person has checked the orders that may be missing. `false` if none were.
#[derive(Debug)]
pub struct OrdersChecked;

impl Script for OrdersChecked {
    type Output = bool;

    async fn run(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        let had_gaps = tables.since(Mark::Gaps).await?.is_some();
        if had_gaps {
            tables.set_since(Mark::Gaps, None).await?;
        }
        Ok(had_gaps)
    }
}

/// Abandons an order whose outcome is unknown, also one that may be missing in the ledger.
#[derive(Debug)]
pub struct Abandon(pub Box<str>);

impl Script for Abandon {
    type Output = bool;

    async fn run(&self, tables: &mut dyn Tables) -> Result<bool, Error> {
        let mut intents = named(tables, &self.0).await?;
        let now = tables.now();
        let Some(intent) = intents.first_mut() else { return Err(no_rows()) };
        if intent.row.get().is_none() && tables.since(Mark::Gaps).await?.is_some() {
            intent.row.set(IntentRow::new(Duration::ZERO, now));
        }
        let is_abandoned = intent.row.get_mut().is_some_and(|row| row.abandon(now));
        tables.save_intents(&mut intents).await?;
        Ok(is_abandoned)
    }
}

/// Expects jobs. Returns their states.
#[derive(Debug)]
pub struct Expecting(pub Vec<Expect>);

impl Script for Expecting {
    type Output = Vec<JobState>;

    async fn run(&self, tables: &mut dyn Tables) -> Result<Vec<JobState>, Error> {
        let named = self.0.iter().map(|expect| &expect.job_id);
        let mut jobs = NamedJobs::load(tables, named).await?;
        let names = self.0.iter().filter_map(|expect| expect.intent.clone());
        let mut intents = intents_of(tables, names).await?;
        let now = tables.now();
        let mut states = Vec::with_capacity(self.0.len());
        for expect in &self.0 {
            let intent = row_of(&mut intents, expect.intent.as_deref());
            states.push(jobs.get_mut(&expect.job_id).expect_of(expect, intent, now));
        }
        jobs.save(tables).await?;
        tables.save_intents(&mut intents).await?;
        Ok(states)
    }
}

/// Something happened to the bucket of the API.
#[derive(Debug)]
pub struct Report(pub BucketEvent);

impl Script for Report {
    type Output = ();

    async fn run(&self, tables: &mut dyn Tables) -> Result<(), Error> {
        let mut bucket = tables.bucket().await?;
        let now = tables.now();
        bucket.report(self.0, now);
        tables.save_bucket(bucket).await
    }
}
