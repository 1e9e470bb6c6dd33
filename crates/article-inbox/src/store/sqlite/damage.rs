//! Damage of the files: how it is found, what is built again, and how it is told.

mod findings;
mod integrity;
mod log_file;

mod transaction;

mod anew;
mod mend;

pub(super) use self::{
    anew::{anew, write_anew},
    findings::{Findings, Part, Unreadable},
    integrity::{Integrity, integrity},
    log_file::unreadable,
    mend::{RESTORE, advice, build_again, judge, mend, search},
    transaction::{Tx, index_differs},
};
