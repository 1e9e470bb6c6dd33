//! Damage of the files: how it is found, and how it is reported.

mod integrity;
pub(super) mod wal_scan;

pub(super) use crate::store::{Findings, LOG};

pub(super) use self::{
    integrity::{integrity, integrity_of_intents, rebuild_indexes},
    wal_scan::unreadable,
};
