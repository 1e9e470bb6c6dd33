//! The commands of the list of promises name tests that exist, and the page of evidence is made of the list.

use std::{fs, path::Path};

use crate::{ROOT, files::sources};

const LIST: &str = include_str!("../promises.txt");

/// Options whose next word is their value.
const WITH_VALUE: [&str; 4] = ["--bench", "--features", "--manifest-path", "--target-dir"];

/// The place of the tests that stand beside the code.
const UNITS: &str = "src";

/// What a command of `cargo test` names.
#[derive(Default)]
struct Command<'a> {
    packages: Vec<&'a str>,
    targets: Vec<&'a str>,
    filters: Vec<&'a str>,
}

fn commands(page: &str) -> impl Iterator<Item = Command<'_>> {
    page.split('`').filter_map(|quoted| quoted.strip_prefix("cargo test ")).map(|command| {
        let mut found = Command::default();
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "-p" => found.packages.extend(words.next()),
                "--test" => found.targets.extend(words.next()),
                "--lib" => found.targets.push(UNITS),
                "--bin" => {
                    words.next();
                    found.targets.push(UNITS);
                }
                _ if WITH_VALUE.contains(&word) || word.starts_with("$(") => {
                    words.next(); // `$(tests/run --flags)` is two words
                }
                _ if word.starts_with('-') || word.parse::<u32>().is_ok() => {}
                _ => found.filters.push(word),
            }
        }
        found
    })
}

impl Command<'_> {
    /// Where its tests are, from the root: folders, and files without their ending.
    fn places(&self) -> Vec<String> {
        let folders = match self.packages[..] {
            [] => packages(),
            ref packages => packages.iter().map(|package| folder_of(package)).collect(),
        };
        let mut places = Vec::new();
        for folder in folders {
            let manifest = Path::new(ROOT).join(&folder).join("Cargo.toml");
            let manifest = fs::read_to_string(manifest).unwrap_or_default();
            let place = |target: &&str| {
                let named = format!("[[test]]\nname = \"{target}\"\npath = \"");
                let path = match manifest.split_once(&named) {
                    Some((_, rest)) => rest.split(".rs\"").next().expect("a path"),
                    None if *target == UNITS => UNITS,
                    None => &format!("tests/{target}"),
                };
                format!("{folder}/{}", path.trim_end_matches("/main"))
            };
            match self.targets[..] {
                [] => places.push(folder),
                ref targets => places.extend(targets.iter().map(place)),
            }
        }
        // The cases of the contract are those of each store.
        if places.iter().any(|place| place.ends_with("/contract")) {
            places.push("tests/contract/src".to_owned());
        }
        places
    }
}

fn packages() -> Vec<String> {
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).expect("the crates");
    let crates = crates.map(|entry| entry.expect("a crate").file_name());
    let crates = crates.map(|name| format!("crates/{}", name.display()));
    crates.chain(["tests", "examples"].map(str::to_owned)).collect()
}

fn folder_of(package: &str) -> String {
    match package {
        "article-webhook-tests" => "tests".to_owned(),
        "article-webhook-examples" => "examples".to_owned(),
        _ => format!("crates/{package}"),
    }
}

/// The filters that are in no function of the targets that their command names, with its modules, and no word of a test there that
/// is a program.
fn missing(page: &str) -> Vec<&str> {
    let folders = ["crates", "examples", "tests"].map(|folder| Path::new(ROOT).join(folder));
    let sources: Vec<_> = folders.iter().flat_map(|folder| sources(folder)).collect();
    let is_there = |test: &str, places: &[String]| {
        let word = format!("(\"{test}\"");
        sources.iter().any(|(path, text)| {
            let path = path.strip_prefix(ROOT).expect("it is below the root").with_extension("");
            let Some(below) = places.iter().find_map(|place| path.strip_prefix(place).ok()) else {
                return false;
            };
            let module = below.to_string_lossy().replace('/', "::");
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
            let mut names = names.map(|name| format!("{module}::{name}"));
            names.any(|name| name.contains(test)) || text.contains(&word)
        })
    };
    let mut missing = Vec::new();
    for command in commands(page) {
        let places = command.places();
        missing.extend(command.filters.iter().filter(|test| !is_there(test, &places)).copied());
    }
    missing
}

#[test]
fn every_promise_names_tests_that_exist() {
    assert_eq!(missing(LIST), [""; 0]);
    assert_eq!(missing(include_str!("../EVIDENCE.md")), [""; 0]);
    let rows = LIST.lines().filter(|line| !line.starts_with("= ") && line.contains(" | "));
    assert!(rows.count() >= 246, "a promise that leaves the list is taken off this number");
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
