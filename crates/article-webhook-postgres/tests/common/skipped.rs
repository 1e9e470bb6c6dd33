//! The line that tests print where a program is missing.

use std::{
    env,
    io::{self, Write as _},
    sync::Once,
};

/// Prints why tests are skipped, once for each `reported`. Where `CI` is set, everything is there, so that the test fails
/// instead.
///
/// Unlike what `eprintln!` writes, it is seen when the tests pass. The harness may be in the middle of a line.
pub(crate) fn skip(reported: &Once, why: &str) {
    assert!(env::var_os("CI").is_none(), "{why}");
    reported.call_once(|| {
        writeln!(io::stdout(), "\npostgres: skipped: {why}").expect("there is an output");
    });
}
