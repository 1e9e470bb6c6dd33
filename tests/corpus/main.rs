//! What the fuzzer has found, held against the same properties without it: every input of its
//! corpus, and some changes of each, the same ones every time.

use std::{fs, path::Path};

use article_webhook_tests::properties::{self, Property, mutate::mutate};

/// How many changes of each input are tried.
const CHANGES: u64 = 8;

#[test]
fn verdict_holds() {
    replay("verdict");
}

#[test]
fn token_holds() {
    replay("token");
}

#[test]
fn bodies_holds() {
    replay("bodies");
}

#[test]
fn repair_holds() {
    replay("repair");
}

#[test]
fn sanitizer_holds() {
    replay("sanitizer");
}

#[test]
fn every_property_has_a_target_and_a_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let names = |folder: &str| {
        let entries = fs::read_dir(folder).expect("the folder exists");
        let names = entries.map(|entry| entry.expect("the folder can be listed").file_name());
        let mut names: Vec<_> =
            names.map(|name| name.to_string_lossy().trim_end_matches(".rs").to_owned()).collect();
        names.sort();
        names
    };
    let mut properties = properties::ALL.map(|(name, _)| name);
    properties.sort();
    for part in ["fuzz_targets", "corpus"] {
        assert_eq!(names(&folder.join(part).to_string_lossy()), properties, "{part}");
    }
}

fn replay(name: &str) {
    let mut properties = properties::ALL.into_iter();
    let (_, check) = properties.find(|(own, _)| *own == name).expect("there is such a property");
    let inputs = inputs(name);
    assert!(!inputs.is_empty(), "the corpus of {name} has no inputs");
    for (file, input) in &inputs {
        hold(check, file, input);
        for seed in 0..CHANGES {
            let mut input = input.clone();
            mutate(&mut input, seed);
            hold(check, &format!("{file}, changed by seed {seed}"), &input);
        }
    }
}

/// The inputs of a property, in the order of their names.
fn inputs(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let entries = fs::read_dir(&folder).expect("the corpus exists");
    let mut paths: Vec<_> =
        entries.map(|entry| entry.expect("the corpus can be listed").path()).collect();
    paths.sort();
    let read = |path: &Path| {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (file, fs::read(path).expect("an input can be read"))
    };
    paths.iter().map(|path| read(path)).collect()
}

fn hold(check: Property, input: &str, bytes: &[u8]) {
    let held = std::panic::catch_unwind(|| check(bytes));
    assert!(held.is_ok(), "broken by {input}: {:?}", String::from_utf8_lossy(bytes));
}
