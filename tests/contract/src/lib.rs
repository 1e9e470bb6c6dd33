//! What every store of the inbox does, as tests: one fact each.
//!
//! A store implements [`Subject`] for a new, empty store and its clock, and `store_contract!` generates a `#[test]` for each
//! case. A store that outlives its process also runs `durable_store_contract!`, and one that has SQL
//! `transactional_store_contract!`. `build.rs` makes these macros.

#![allow(missing_docs, reason = "the name of a case says what it holds")]
#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a case fails by a panic, as every test does"
)]

mod claim;
pub mod faulty;
#[path = "../../log_buffer.rs"]
pub mod log_buffer;

mod subject;

mod trial;

pub mod lines;

pub mod cases;
pub mod ledger;

include!(concat!(env!("OUT_DIR"), "/suite.rs"));

pub use claim::{CLAIM_ONE, settle_one};
pub use ledger::steps::answer;
pub use subject::{Durable, Subject, Transactional};
pub use trial::{Trial, arrival, job, key};
