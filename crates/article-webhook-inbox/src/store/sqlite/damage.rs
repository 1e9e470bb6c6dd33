//! Damage of the files: how it is found, and how it is reported.

mod findings;
mod integrity;
pub(super) mod wal_scan;

pub(super) use self::{
    findings::{Findings, Part},
    integrity::{integrity, integrity_of_intents, rebuild_indexes},
    wal_scan::unreadable,
};
