//! Entries as lines, from one inbox to another.

mod error_capture;
mod progress;

mod export;
mod import;

pub(super) use export::{ExportArguments, run as export};
pub(super) use import::{ImportArguments, already, opened, run as import};
