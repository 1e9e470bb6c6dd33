use std::collections::BTreeSet;

use super::{BATCH, counters};
use crate::store::sqlite::{
    damage::Tx,
    fault::Fault,
    statements::{
        ledger::{self, LedgerSuspects},
        rows::{self, SLOTS},
        sql,
    },
};

/// Rows that are damaged. They are isolated by the connection that writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Suspects {
    /// Entries whose rows are damaged.
    pub(super) entries: BTreeSet<i64>,
    /// Entries with bodies whose rows are damaged.
    pub(super) bodies: BTreeSet<i64>,
    /// Entries whose number of bodies is wrong.
    pub(super) held: BTreeSet<i64>,
    /// Whether a counter cannot be read.
    pub(super) counters: bool,
    /// Rows of the ledger.
    pub(super) ledger: LedgerSuspects,
}

impl Suspects {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn findings(&self) -> Vec<String> {
        let of = |ids: &BTreeSet<i64>, what: &'static str| {
            ids.iter().map(move |id| format!("entry {id}: {what}")).collect::<Vec<_>>()
        };
        let mut findings =
            of(&self.entries, "its row is damaged, deliver or collect its job again");
        findings
            .extend(of(&self.bodies, "a body's row is damaged, deliver or collect its job again"));
        findings.extend(of(&self.held, "its number of bodies is wrong, start the receiver again"));
        if self.counters {
            findings.push("a counter is damaged, start the receiver again".to_owned());
        }
        findings.extend(self.ledger.findings());
        findings
    }
}

/// Looks at every row of the inbox, also at those that no index leads to. The bytes of bodies are not read.
pub(crate) fn scan(tx: &Tx<'_>) -> Result<Suspects, Fault> {
    let mut suspects = Suspects::default();
    batches(|last| {
        let mut statement = tx.prepare_cached(sql::SCAN_ENTRIES)?;
        let mut rows = statement.query([last, BATCH])?;
        let mut end = None;
        while let Some(row) = rows.next()? {
            let id = row.get(0)?;
            if !rows::is_sound(row)? {
                suspects.entries.insert(id);
            } else if row.get(rows::AFTER_ENTRY)? {
                suspects.held.insert(id);
            }
            end = Some(id);
        }
        Ok(end)
    })?;
    batches(|last| {
        let mut statement = tx.prepare_cached(sql::SCAN_BODIES)?;
        let mut rows = statement.query([last, BATCH])?;
        let mut end = None;
        while let Some(row) = rows.next()? {
            let (slot, is_sound) = rows::slot_and_soundness(row)?;
            if !is_sound {
                suspects.bodies.insert(slot.div_euclid(SLOTS));
            }
            end = Some(slot);
        }
        Ok(end)
    })?;
    suspects.counters = counters::are_damaged(tx)?;
    suspects.ledger = ledger::scan(tx, BATCH)?;
    Ok(suspects)
}

/// Reads batches until one is empty. A batch begins after the last row of the one before.
fn batches(mut batch: impl FnMut(i64) -> Result<Option<i64>, Fault>) -> Result<(), Fault> {
    let mut last = i64::MIN;
    while let Some(end) = batch(last)? {
        last = end;
    }
    Ok(())
}
