//! What a command of cargo names is there.

use std::{collections::HashSet, path::Path, process::Command};

use serde_json::Value;

use crate::pages::{ROOT, all};

/// Commands of cargo itself, with which a page may begin.
const OF_CARGO: [&str; 9] =
    ["add", "bench", "build", "doc", "install", "new", "run", "test", "tree"];

/// What the workspace has, as cargo's options name it.
struct Workspace(HashSet<(&'static str, String)>);

impl Workspace {
    fn read() -> Self {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
        let metadata = cargo.current_dir(ROOT).output().unwrap();
        let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
        let mut names = HashSet::new();
        for package in metadata["packages"].as_array().unwrap() {
            names.insert(("-p", package["name"].as_str().unwrap().to_owned()));
            for target in package["targets"].as_array().unwrap() {
                let option = match target["kind"][0].as_str().unwrap() {
                    "example" => "--example",
                    "test" => "--test",
                    "bench" => "--bench",
                    "bin" => "--bin",
                    _ => continue,
                };
                names.insert((option, target["name"].as_str().unwrap().to_owned()));
            }
        }
        Self(names)
    }

    /// What a command names that is not there.
    fn missing(&self, command: &str) -> Option<String> {
        let words = shlex::split(command).unwrap();
        let words: Vec<_> = words.iter().skip_while(|word| word.contains('=')).collect();
        if words[0] != "cargo" {
            let path = words[0].starts_with("tests/").then(|| Path::new(ROOT).join(words[0]))?;
            return (!path.is_file()).then(|| words[0].clone());
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
            option @ ("-p" | "--example" | "--test" | "--bench" | "--bin") => {
                !self.0.iter().any(|(of, name)| *of == option && name == pair[1])
            }
            _ => false,
        });
        missing.next().map(|pair| format!("{} {}", pair[0], pair[1]))
    }
}

#[test]
fn what_a_command_of_cargo_names_is_in_the_workspace() {
    let workspace = Workspace::read();
    let mut found = 0;
    for page in all() {
        for command in page.commands() {
            found += usize::from(command.text.contains("cargo "));
            let missing = workspace.missing(&command.text);
            assert_eq!(missing, None, "{}: {}", page.name, command.text);
        }
    }
    assert!(found >= 8, "only {found} commands of cargo were found");
}

#[test]
fn a_name_that_the_workspace_does_not_have_is_found_out() {
    let workspace = Workspace::read();
    for (command, missing) in [
        ("cargo run --example order_articles", Some("--example order_articles")),
        ("cargo test -p article-webhook --test nothing", Some("--test nothing")),
        ("cargo bench -p article-webhooks --bench timing", Some("-p article-webhooks")),
        ("A='b c' cargo install --path crates/nothing", Some("--path crates/nothing")),
        ("cargo demonstrate", Some("the command demonstrate")),
        ("tests/running --all", Some("tests/running")),
        ("cargo run --example order_article -- --test nothing", None),
        ("tests/run --all", None),
    ] {
        assert_eq!(workspace.missing(command).as_deref(), missing, "{command}");
    }
}
