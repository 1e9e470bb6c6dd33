//! What a command of cargo names is there.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::Value;

use crate::pages::{ROOT, all};

/// Commands of cargo itself, with which a page may begin.
const OF_CARGO: [&str; 9] =
    ["add", "bench", "build", "doc", "install", "new", "run", "test", "tree"];

/// The packages of the workspace, and their programs, tests, examples and benches, each after the option of cargo that names it.
fn names() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let metadata = cargo.current_dir(ROOT).output().unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let mut names = BTreeSet::new();
    for package in metadata["packages"].as_array().unwrap() {
        names.insert(format!("-p {}", package["name"].as_str().unwrap()));
        for target in package["targets"].as_array().unwrap() {
            let kind = target["kind"][0].as_str().unwrap();
            names.insert(format!("--{kind} {}", target["name"].as_str().unwrap()));
        }
    }
    names
}

/// What a command names that is not there.
fn missing(names: &BTreeSet<String>, command: &str) -> Option<String> {
    let words = shlex::split(command).unwrap();
    let words: Vec<_> = words.iter().skip_while(|word| word.contains('=')).collect();
    if words[0] != "cargo" {
        let is_missing =
            words[0].starts_with("tests/") && !Path::new(ROOT).join(words[0]).is_file();
        return is_missing.then(|| words[0].clone());
    }
    if !OF_CARGO.contains(&&**words[1]) {
        return Some(format!("the command {}", words[1]));
    }
    let pairs = words.windows(2).take_while(|pair| pair[0] != "--");
    let mut missing = pairs.filter(|pair| match &**pair[0] {
        "--path" => {
            // The repository, from an application beside it.
            let path = pair[1].trim_start_matches("../article-webhook/");
            !Path::new(ROOT).join(path).join("Cargo.toml").is_file()
        }
        "-p" | "--example" | "--test" | "--bench" | "--bin" => {
            !names.contains(&format!("{} {}", pair[0], pair[1]))
        }
        _ => false,
    });
    missing.next().map(|pair| format!("{} {}", pair[0], pair[1]))
}

#[test]
fn what_a_command_of_cargo_names_is_in_the_workspace() {
    let (names, mut found) = (names(), 0);
    for page in all() {
        for command in page.commands() {
            found += usize::from(command.text.contains("cargo "));
            assert_eq!(missing(&names, &command.text), None, "{}: {}", page.name, command.text);
        }
    }
    assert!(found >= 8, "only {found} commands of cargo were found");
}

#[test]
fn a_name_that_the_workspace_does_not_have_is_found_out() {
    let names = names();
    for (command, found) in [
        ("cargo run --example timing", Some("--example timing")),
        ("A='b c' cargo run --bin nothing", Some("--bin nothing")),
        ("tests/running --all", Some("tests/running")),
        ("cargo bench -p article-webhook --bench timing -- --test nothing", None),
    ] {
        assert_eq!(missing(&names, command).as_deref(), found, "{command}");
    }
}
