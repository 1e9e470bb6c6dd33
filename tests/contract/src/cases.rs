//! The cases of the contract, one fact each, grouped by the call that they are about.
//!
//! Where a case is about a named invariant of the inbox, its documentation begins with the name. The invariants are
//! explained in the guide of `article-webhook`, on the page `guide::invariants`.

pub mod alone;
pub mod claim;
pub mod completion;
pub mod durable;
pub mod import;
pub mod life;
pub mod operator;
pub mod prune;
pub mod quarantine;
pub mod read;
pub mod record;
pub mod settle;
