//! The cases of the contract of the ledger, one fact each, grouped by what they are about.

pub(crate) mod steps;

pub mod answer;
pub mod arrival;
pub mod bucket;
pub mod capability;
pub mod expect;
pub mod import;
pub mod intent;
pub mod outcome;
pub mod poll;
pub mod read;
pub mod retention;
pub mod unreadable;
