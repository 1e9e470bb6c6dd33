#![doc = include_str!("../README.md")]
#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a case fails by a panic, as every test does"
)]

mod subject;

mod trial;

pub mod cases;
pub mod ledger;

mod suite;

pub use subject::{Durable, LedgerSubject, Subject, Transactional};
pub use trial::{Trial, run};
