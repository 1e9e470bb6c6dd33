use std::{pin::Pin, time::SystemTime};

use article_webhook::JobId;

use crate::{
    Body, Error, State,
    call::{
        CauseCount, Claim, Counts, Events, Filter, HourCount, IntentState, JobFilter, LedgerCounts,
        Since,
    },
    rules::{Bucket, IntentRow, JobRows, Tracked},
};

/// The future that a call of the tables returns. In a store whose database is in this process it is ready at once.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The tables of a store inside one transaction. Every store has the same tables, and the same scripts run on them: a script
/// loads rows, lets a rule change them, and saves them.
///
/// The calls take and return sets, so that a batch costs a database on another machine a few statements. What a call saves is
/// in the database by the time that the next call loads something, or the transaction commits: a failure to save may come
/// from a later call.
///
/// The rows that a script loads are its own until the transaction ends, but for what an application's transaction does to
/// complete an entry. So that no two scripts wait for each other, a script loads jobs first, all of them by one call, then
/// intents, and then the bucket.
///
/// A row that cannot be trusted is a value, not an error: an entry comes back as corrupt, with what was
/// [found](crate::rules::EntryRows::damage). So one damaged row fails no batch.
pub trait Tables: Send {
    /// The time of the transaction, by the clock of the store. A script reads it after the first rows that it loads: a
    /// database on another machine says the time with these.
    fn now(&self) -> SystemTime;

    /// The name of the node that runs the script, in a store that nodes share.
    fn node(&self) -> Option<&str> {
        None
    }

    /// The rows of these jobs, each of them once. A job of which nothing is stored has empty rows.
    fn jobs(&mut self, which: Jobs) -> Pending<'_, Vec<JobRows>>;

    /// Saves what has changed in these rows.
    fn save<'a>(&'a mut self, jobs: &'a mut [JobRows]) -> Pending<'a, ()>;

    /// The ids of entries, in the order that the selection names. Those that are due are locked until the transaction ends, and
    /// those that another transaction has locked are left out.
    fn entries(&mut self, which: Entries) -> Pending<'_, Vec<i64>>;

    /// The ids of rows of the ledger, in the order that the selection names. Those that are due are locked until the transaction
    /// ends, and those that another transaction has locked are left out.
    fn expected(&mut self, which: Expected) -> Pending<'_, Vec<i64>>;

    /// When the next of each of these rows is due, other than those with the given ids.
    fn next(&mut self, which: Vec<Next>) -> Pending<'_, Vec<Option<SystemTime>>>;

    /// The bodies of each of these entries with their bytes, in the order of their arrival, and what is damaged of each.
    fn bodies(&mut self, entries: Vec<i64>) -> Pending<'_, Vec<Vec<LoadedBody>>>;

    /// The rows of these intents, with their names. A name that is not stored has an empty row.
    fn intents(&mut self, which: Intents) -> Pending<'_, Vec<IntentRows>>;

    /// Saves what has changed in these rows. New ones have their ids after that.
    fn save_intents<'a>(&'a mut self, intents: &'a mut [IntentRows]) -> Pending<'a, ()>;

    /// The bucket of the API, which is full if none is stored.
    fn bucket(&mut self) -> Pending<'_, Bucket>;

    /// Saves the bucket of the API.
    fn save_bucket(&mut self, bucket: Bucket) -> Pending<'_, ()>;

    /// Since when the store has a mark, if it has it.
    fn since(&mut self, mark: Mark) -> Pending<'_, Option<Since>>;

    /// Sets a mark, or removes it.
    fn set_since(&mut self, mark: Mark, since: Option<Since>) -> Pending<'_, ()>;

    /// What the bodies in quarantine take of the budget for them: each its length, and
    /// [that much](crate::rules::MIN_QUARANTINE_COST) at least.
    fn quarantine_cost(&mut self) -> Pending<'_, u64>;

    /// How many entries are in each state.
    fn counts(&mut self) -> Pending<'_, Counts>;

    /// How many entries there are for each state and [group](crate::cause_group) of causes: of those that were requeued at this
    /// time, or else of those that are dead, unhandled, corrupt or quarantined.
    fn causes(&mut self, requeued_at: Option<SystemTime>) -> Pending<'_, Vec<CauseCount>>;

    /// How many entries arrived and died in each hour, since this time.
    fn hours(&mut self, since: SystemTime) -> Pending<'_, Vec<HourCount>>;

    /// The figures of the ledger.
    fn ledger_counts(&mut self) -> Pending<'_, LedgerCounts>;
}

/// What may be true of a whole store, since a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Claims are paused.
    Paused,
    /// Orders that were made may be missing in the ledger.
    Gaps,
    /// The store was [begun](super::Begin) in place of a damaged one, whose content is not merged yet.
    Begun,
}

impl Mark {
    /// The name under which a database stores it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Gaps => "ledger_gaps",
            Self::Begun => "begun",
        }
    }
}

/// A body with its bytes, which were not compared with its digest.
#[derive(Debug, Clone)]
pub struct LoadedBody {
    /// The body, as far as it can be read.
    pub body: Body,
    /// What is damaged of its row.
    pub damage: Option<String>,
}

/// Which jobs to load.
#[derive(Debug, Clone)]
pub enum Jobs {
    /// The jobs of these names, in this order.
    Named(Vec<JobId>),
    /// The jobs of the entries with these ids.
    OfEntries(Vec<i64>),
    /// The jobs of the rows of the ledger with these ids.
    OfExpected(Vec<i64>),
}

/// Which entries to select.
#[derive(Debug, Clone)]
pub enum Entries {
    /// Entries that are due, of the events of a claim, in its order, and at most as many as its limit.
    Due(Claim),
    /// Entries that are leased, for a store that frees the leases of its predecessor.
    Leased,
    /// Entries that wait for longer than until this time.
    WaitingBeyond(SystemTime),
    /// Entries that have bytes, and were done before this time. Those that ended first come first.
    DoneWithBytes {
        /// The time.
        before: SystemTime,
        /// At most this many.
        limit: u32,
    },
    /// Entries that entered this state before this time. Those that ended first come first.
    Ended {
        /// The state.
        state: State,
        /// The time.
        before: SystemTime,
        /// At most this many.
        limit: u32,
    },
    /// Entries that pass a filter, by their ids.
    Listed(Filter),
}

/// Which rows of the ledger to select.
#[derive(Debug, Clone)]
pub enum Expected {
    /// Jobs that are due to be polled, those that have been due longest first.
    Due {
        /// At most this many.
        limit: u32,
    },
    /// Open jobs with a time that a clock that was ahead may have set, and jobs that are polled.
    Restarted,
    /// Jobs that ended before this time, those that ended first come first.
    Ended {
        /// The time.
        before: SystemTime,
        /// At most this many.
        limit: u32,
    },
    /// Jobs that pass a filter, by their ids.
    Listed(JobFilter),
}

/// What to look for the next time of.
#[derive(Debug, Clone)]
pub enum Next {
    /// Entries of these events that wait or are leased.
    Entry(Events, Vec<i64>),
    /// Failures that wait or are leased.
    Failure,
    /// Jobs that are to be polled, or are polled now.
    Poll(Vec<i64>),
}

/// Which intents to load.
#[derive(Debug, Clone)]
pub enum Intents {
    /// The intents of these names, each of which is there once.
    Named(Vec<Box<str>>),
    /// The intent with this id.
    Of(i64),
    /// Intents that may have ordered one of these jobs, each with the intent that it names: those that a job names or that name
    /// it, and those whose job is not known.
    MayHaveOrdered(Vec<(JobId, Option<Box<str>>)>),
    /// Intents whose call is under way.
    Ordering,
    /// Intents in this state or in any, with ids after the given one, by their ids.
    Listed {
        /// The state.
        state: Option<IntentState>,
        /// The last id of the page before.
        after: i64,
        /// At most this many.
        limit: u32,
    },
}

/// An intent.
#[derive(Debug, Clone)]
pub struct IntentRows {
    /// Its name, which is the application's key of the order.
    pub name: Box<str>,
    /// Its row.
    pub row: Tracked<IntentRow>,
}
