//! Two counters without which no call can write: the one that [`probe`](super::super::probe) increments, and the one from
//! which SQLite takes the ids of entries.

use rusqlite::{Connection, OptionalExtension};

use crate::store::sqlite::{
    damage::{Part, Tx},
    fault::Fault,
    statements::sql,
};

/// Whether a counter cannot be read.
pub(super) fn are_damaged(tx: &Connection) -> Result<bool, Fault> {
    Ok(!is_probed(tx)? || sequences(tx)?.iter().any(|sequence| !sequence.is_sound))
}

/// Sets damaged counters to values from which they can go on.
pub(super) fn mend(tx: &Tx<'_>) -> Result<(), Fault> {
    if !is_probed(tx)? {
        tx.execute(sql::RESET_PROBES, [])?;
        tx.found(Part::Counter, "the counter of probes was damaged, and begins anew".to_owned());
    }
    for sequence in sequences(tx)?.iter().filter(|sequence| !sequence.is_sound) {
        // Without its row, SQLite goes on after the largest id.
        tx.execute(sql::REMOVE_SEQUENCE, [sequence.row])?;
        tx.found(
            Part::Counter,
            "a counter of row ids was damaged, and goes on after the largest id".to_owned(),
        );
    }
    Ok(())
}

fn is_probed(tx: &Connection) -> Result<bool, Fault> {
    let probes = tx.query_row(sql::PROBES, [], |row| Ok(row.get::<_, i64>(0).is_ok()));
    Ok(probes.optional()?.unwrap_or(false))
}

/// A row in which SQLite counts the ids of a table.
struct Sequence {
    row: i64,
    is_sound: bool,
}

fn sequences(tx: &Connection) -> Result<Vec<Sequence>, Fault> {
    let mut rows = tx.prepare(sql::SEQUENCES)?;
    let rows = rows.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut sequence = tx.prepare(sql::SEQUENCE)?;
    let sequences = rows.into_iter().map(|row| {
        // A row whose values have other lengths than its head says cannot be read at all.
        let is_sound = sequence.query_row([row], |row| row.get(0)).unwrap_or(false);
        Sequence { row, is_sound }
    });
    Ok(sequences.collect())
}
