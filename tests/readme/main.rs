//! The pages of this repository say what the code does, and name files, sections and tests that exist.

mod answers;
mod document;
mod evidence;
mod files;
mod guide;
mod pages;
mod promises;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
