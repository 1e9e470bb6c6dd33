#![doc = include_str!("../README.md")]

mod error;
mod finding;

mod endpoint;
mod report;

mod http;

mod cases;

mod common_cause;
mod cross_checks;

mod runner;

mod check;

pub use cases::{JOB_ID_PREFIX, TITLE};
pub use check::{Check, CheckBuilder, check_receiver};
pub use error::CheckError;
pub use finding::{CheckFinding, Verdict};
pub use report::CheckReport;
