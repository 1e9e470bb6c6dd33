//! The commands of the list of promises name tests that exist, and the page of evidence is made of the list.

use std::path::Path;

use crate::{ROOT, files::sources};

const LIST: &str = include_str!("../promises.txt");

/// Options whose next word is their value.
const WITH_VALUE: [&str; 7] =
    ["-p", "--test", "--bench", "--bin", "--features", "--manifest-path", "--target-dir"];

/// The names of tests in all commands of `cargo test`.
fn tests(page: &str) -> Vec<&str> {
    let mut tests = Vec::new();
    for command in page.split('`').filter_map(|quoted| quoted.strip_prefix("cargo test ")) {
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            if WITH_VALUE.contains(&word) {
                words.next();
            } else if word.starts_with("$(") {
                words.next(); // `$(tests/run --flags)` is two words
            } else if !word.starts_with('-') && word.parse::<u32>().is_err() {
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
    assert_eq!(missing(LIST), [""; 0]);
    assert_eq!(missing(include_str!("../EVIDENCE.md")), [""; 0]);
    let rows = LIST.lines().filter(|line| !line.starts_with("= ") && line.contains(" | "));
    assert!(rows.count() >= 248, "a promise that leaves the list is taken off this number");
}

#[test]
fn a_promise_without_its_test_is_found_out() {
    for name in ["wire::rotations", "no_such_harness"] {
        let page = format!("a | `cargo test -p b --test c -- {name} --long`\n");
        assert_eq!(missing(&page), [name]);
    }
}

#[test]
fn every_invariant_has_its_tests() {
    let invariants = LIST.split_once("\n# Invariants\n").expect("they are the last part").1;
    let guide = include_str!("../../crates/article-webhook/src/guide/invariants.md");
    for name in guide.lines().filter_map(|line| line.strip_prefix("# ")) {
        let row = format!("\n{} | ", name.to_lowercase());
        assert!(invariants.contains(&row), "{name}");
    }
}
