//! Damage of the files: how it is found, what is built again, and how it is told.

mod findings;
mod integrity;
mod log_file;

mod transaction;

mod mend;

pub(super) use self::{
    findings::{Findings, Part, Unreadable},
    integrity::{Integrity, integrity},
    log_file::unreadable,
    mend::{build_again, copy, judge, mend, mend_lists},
    transaction::{Tx, index_differs},
};
