//! Each command with what it prints. `TRYCMD=overwrite` writes the files anew.

use std::{env, fs};

use trycmd::TestCases;

use crate::sample;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/cases");

/// The cases run in a copy, each in a folder of its own with an inbox in it.
#[test]
fn every_command_prints_what_the_cases_say() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<_> = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!cases.is_empty());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for case in &cases {
        let copy = folder.path().join(case.file_name().unwrap());
        fs::copy(case, &copy).unwrap();
        let own = copy.with_extension("in");
        fs::create_dir(&own).unwrap();
        runtime.block_on(sample::inbox(&own.join("inbox.db")));
        fs::write(own.join("text.db"), "this is no database, and it is long enough to look at\n")
            .unwrap();
        fs::write(own.join("brand.json"), "{\"name\":\"Shoes & Co\"}\n").unwrap();
        fs::write(own.join("key"), "sk-simulator\n").unwrap();
    }
    let tests = TestCases::new();
    tests.env("NO_COLOR", "1").env("COLUMNS", "100").case(folder.path().join("*.trycmd"));
    tests.run();
    if env::var_os("TRYCMD").is_some() {
        for case in &cases {
            fs::copy(folder.path().join(case.file_name().unwrap()), case).unwrap();
        }
    }
}
