use std::{collections::BTreeSet, time::SystemTime};

use article_webhook_inbox::{
    Body, CauseCount, Counts, Entry, Error, HourCount, Page, Pruned,
    store::{Claims, Lease, Quarantined, Recorded, Settled},
};

use crate::ledger::{self, LedgerAnswer};

/// What a store answers to a step.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Nothing,
    Recorded(Recorded),
    Quarantined(Quarantined),
    Claims(Claims),
    Leases(Vec<Lease>),
    Settled(Settled),
    Pruned(Pruned),
    Counts(Counts),
    Since(Option<SystemTime>),
    Page(Page<Entry>),
    Shown(Option<Box<(Entry, Vec<Body>)>>),
    Changed(bool),
    Erased(u64),
    /// Whether anything is damaged. The sentences differ between stores.
    Damaged(bool),
    Ledger(LedgerAnswer),
    Failed(String),
}

/// The whole content of a store.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    pub(crate) entries: Vec<(Entry, Vec<Body>)>,
    pub(crate) listed: Vec<Entry>,
    pub(crate) counts: Counts,
    pub(crate) causes: [Vec<CauseCount>; 2],
    pub(crate) hours: Vec<HourCount>,
    pub(crate) due_since: Option<SystemTime>,
    pub(crate) ids: BTreeSet<i64>,
    pub(crate) ledger: ledger::Everything,
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}
