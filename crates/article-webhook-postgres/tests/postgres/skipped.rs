//! What these tests print where PostgreSQL is missing.

use std::{
    env,
    process::{Command, Output},
    sync::Once,
};

use crate::server::skipped::skip;

/// Set in the process that has nothing to skip, and says so.
const SKIPS: &str = "ARTICLE_TEST_SKIPS";

fn skipping(change: impl FnOnce(&mut Command) -> &mut Command) -> (Output, String) {
    let mut tests = Command::new(env::current_exe().unwrap());
    let name = "skipped::what_is_skipped_is_reported_by_tests_that_pass_and_fails_where_nothing_is_missing";
    tests.args(["--exact", name]).env(SKIPS, "yes");
    let output = change(&mut tests).output().unwrap();
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    (output, printed)
}

#[test]
fn what_is_skipped_is_reported_by_tests_that_pass_and_fails_where_nothing_is_missing() {
    if env::var_os(SKIPS).is_some() {
        static REPORTED: Once = Once::new();
        skip(&REPORTED, "no such program");
        skip(&REPORTED, "no such program");
        return;
    }
    let (output, printed) = skipping(|tests| tests.env_remove("CI"));
    assert!(output.status.success(), "{printed}");
    let lines = printed.lines().filter(|line| *line == "postgres: skipped: no such program");
    assert_eq!(lines.count(), 1, "{printed}");

    let (output, printed) = skipping(|tests| tests.env("CI", "true"));
    assert!(!output.status.success(), "{printed}");
    assert!(printed.contains("no such program"), "{printed}");
}
