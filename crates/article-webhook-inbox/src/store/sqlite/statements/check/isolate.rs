use std::collections::HashSet;

use super::{Suspects, counters};
use crate::{
    State,
    store::sqlite::{
        damage::{Part, Tx},
        fault::Fault,
        statements::{
            ledger,
            rows::{self, DamagedEntry},
            sql,
        },
    },
};

/// Isolates damaged rows, so that no statement fails because of them, and tells each.
pub(crate) fn isolate(tx: &Tx<'_>, suspects: &Suspects) -> Result<(), Fault> {
    for id in suspects.bodies.union(&suspects.held) {
        let Some(mut stored) = rows::load(tx, *id)? else { continue };
        let is_open = matches!(stored.row.state, State::Waiting | State::Leased);
        if !is_open && !suspects.bodies.contains(id) {
            continue;
        }
        let Err(cause) = rows::sound_bodies(tx, *id)? else { continue };
        if is_open {
            stored.row.mark_corrupt(cause, tx.now());
            rows::save(tx, &stored)?;
            ledger::sync_with_entry(tx, &stored)?;
        }
    }
    for id in suspects.entries.iter().chain(&suspects.held) {
        // Loading isolates.
        rows::load(tx, *id)?;
        rows::count_held(tx, *id)?;
    }
    for id in &suspects.held {
        tx.found(
            Part::Entry,
            format!("entry {id}: the number of its bodies was wrong, and was counted again"),
        );
    }
    if suspects.counters {
        counters::mend(tx)?;
    }
    ledger::mend(tx, &suspects.ledger)
}

/// Gives each entry a key of its own, which an index was to enforce. All get another name but the first that is sound.
pub(crate) fn separate_twins(tx: &Tx<'_>) -> Result<(), Fault> {
    let mut statement = tx.prepare(sql::TWINS)?;
    let twins = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut keys = HashSet::new();
    for id in twins {
        match rows::read(tx, id)? {
            Some(Err(damaged)) => drop(damaged.isolate_renamed(tx)?),
            Some(Ok(stored)) if !keys.insert(stored.key.clone()) => {
                DamagedEntry::twin(stored).isolate_renamed(tx)?;
            }
            _ => {}
        }
    }
    Ok(())
}
