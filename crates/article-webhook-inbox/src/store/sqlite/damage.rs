//! Damage of the files: how it is found, what is built again, and how it is told.

mod findings;
mod integrity;
mod wal_scan;

mod transaction;

mod mend;
mod rebuilt_copy;

pub(super) use self::{
    findings::{Findings, Part, Unreadable},
    integrity::{Integrity, integrity},
    mend::{RESTORE, advice, build_again, judge, mend, search},
    rebuilt_copy::{rebuilt_copy, write_rebuilt_copy},
    transaction::{Tx, index_differs},
    wal_scan::unreadable,
};
