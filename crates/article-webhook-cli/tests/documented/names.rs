//! What a command of cargo names is there.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::Value;

use crate::pages::{ROOT, all};

/// Commands of cargo itself, with which a page may begin.
const OF_CARGO: [&str; 9] =
    ["add", "bench", "build", "doc", "install", "new", "run", "test", "tree"];

/// The packages of the workspace, and their programs, tests, examples and benches.
fn names() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let metadata = cargo.current_dir(ROOT).output().unwrap();
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let named = packages.flat_map(|it| it["targets"].as_array().unwrap().iter().chain([it]));
    named.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_a_command_of_cargo_names_is_in_the_workspace() {
    let (names, mut found) = (names(), 0);
    for page in all() {
        for command in page.commands() {
            let words = shlex::split(&command.text).unwrap();
            if words[0] != "cargo" {
                continue;
            }
            found += 1;
            let at = format!("{}: {}", page.name, command.text);
            assert!(OF_CARGO.contains(&&*words[1]), "{at}");
            for pair in words.windows(2).take_while(|pair| pair[0] != "--") {
                let is_there = match &*pair[0] {
                    "-p" | "--example" | "--test" | "--bench" => names.contains(&pair[1]),
                    "--path" => {
                        // The repository, from an application beside it.
                        let path = pair[1].trim_start_matches("../article-webhook/");
                        Path::new(ROOT).join(path).join("Cargo.toml").is_file()
                    }
                    _ => true,
                };
                assert!(is_there, "{at}: {}", pair[1]);
            }
        }
    }
    assert!(found >= 8, "only {found} commands of cargo were found");
}
