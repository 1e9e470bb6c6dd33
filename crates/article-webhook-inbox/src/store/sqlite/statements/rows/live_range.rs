use rusqlite::{ToSql, types::ToSqlOutput};

use super::StoredRow;
use crate::{State, call::Events};

/// A range of the index by time: the entries of a state that a claim may take, either failures or all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct LiveRange {
    pub(in super::super) state: State,
    pub(in super::super) kind: Kind,
}

/// Failures are 1 in the index, and all others 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Failures,
    Others,
}

impl LiveRange {
    /// The ranges of all entries that wait or are leased.
    pub(in super::super) const ALL: [Self; 4] = [
        Self { state: State::Waiting, kind: Kind::Others },
        Self { state: State::Leased, kind: Kind::Others },
        Self { state: State::Waiting, kind: Kind::Failures },
        Self { state: State::Leased, kind: Kind::Failures },
    ];

    /// Whether a claim of these events looks there.
    pub(in super::super) fn is_among(self, events: Events) -> bool {
        match events {
            Events::All => true,
            Events::ExceptFailures => self.kind == Kind::Others,
        }
    }

    /// Whether the row belongs there.
    pub(in super::super) fn contains(self, stored: &StoredRow) -> bool {
        stored.row.state == self.state && stored.key.is_failure() == (self.kind == Kind::Failures)
    }
}

impl ToSql for Kind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self == Self::Failures).into())
    }
}
