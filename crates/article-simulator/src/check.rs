//! Checks any receiver, in any language, by its URL: some sixty requests as the service sends them, as strangers
//! would, and as broken connections leave them, each with what should come, what came, and how to mend it.
//!
//! What it delivers is article after article about jobs named `check-…`: check a receiver that may store them.

mod case;
mod cases;
mod checker;
mod connection;
mod error;
mod finding;
mod heard;
mod judge;
mod overall;
mod report;
mod request;
mod response;
mod run;
mod sample;
mod site;

pub use checker::{Check, check_receiver};
pub use error::CheckError;
pub use finding::{Finding, Verdict};
pub use report::Report;
