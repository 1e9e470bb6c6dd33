//! The commands of the table of promises name tests that exist.

use std::path::Path;

use crate::{ROOT, files::sources};

const PAGE: &str = include_str!("../EVIDENCE.md");

/// Options whose next word is their value.
const WITH_VALUE: [&str; 7] =
    ["-p", "--test", "--bench", "--bin", "--features", "--manifest-path", "--target-dir"];

fn promises(page: &str) -> &str {
    let promises = page.split_once("\n## Promises\n").expect("there is a list of promises").1;
    promises.split("\n## ").next().expect("a split has a first part")
}

/// The names of tests in all commands of `cargo test`.
fn tests(page: &str) -> Vec<&str> {
    let mut tests = Vec::new();
    let commands = promises(page).split('`');
    for command in commands.filter_map(|quoted| quoted.strip_prefix("cargo test ")) {
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            if WITH_VALUE.contains(&word) {
                words.next();
            } else if word.starts_with("$(") {
                words.next(); // `$(tests/run --flags)` is two words
            } else if !word.starts_with('-') {
                tests.push(word);
            }
        }
    }
    tests
}

/// The names that are in no function of the tree with its path, and no word of a test that is a program.
fn missing(page: &str) -> Vec<&str> {
    let folders = ["crates", "examples", "tests"].map(|folder| Path::new(ROOT).join(folder));
    let (mut functions, mut texts) = (Vec::new(), Vec::new());
    for (path, text) in folders.iter().flat_map(|folder| sources(folder)) {
        let path = path.with_extension("").to_string_lossy().replace('/', "::");
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
        functions.extend(names.map(|name| format!("{path}::{name}")));
        texts.push(text);
    }
    let is_there = |test: &str| {
        let word = format!("(\"{test}\"");
        functions.iter().any(|function| function.contains(test))
            || texts.iter().any(|text| text.contains(&word))
    };
    tests(page).into_iter().filter(|test| !is_there(test)).collect()
}

#[test]
fn every_promise_names_tests_that_exist() {
    assert_eq!(missing(PAGE), [""; 0]);
    let promises =
        promises(PAGE).lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    assert!(promises.count() >= 223, "a promise that leaves the list is taken off this number");
}

#[test]
fn a_promise_without_its_test_is_found_out() {
    for name in ["wire::rotations", "no_such_harness"] {
        let page = format!("\n## Promises\n| a | `cargo test -p b --test c -- {name} --long` |\n");
        assert_eq!(missing(&page), [name]);
    }
}
