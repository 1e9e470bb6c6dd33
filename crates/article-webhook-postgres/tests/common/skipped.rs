//! What is said where a program is missing.

use std::{
    env,
    io::{self, Write as _},
    sync::Once,
};

/// Says, once for each `said`, why tests are skipped. Where `CI` is set everything is there, so that it fails instead.
///
/// Unlike what `eprintln!` writes, it is seen when the tests pass. The harness may be in the middle of a line.
pub(crate) fn skip(said: &Once, why: &str) {
    assert!(env::var_os("CI").is_none(), "{why}");
    said.call_once(|| {
        writeln!(io::stdout(), "\npostgres: skipped: {why}").expect("there is an output");
    });
}
