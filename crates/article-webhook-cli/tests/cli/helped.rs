//! Help and completions, of all commands.

use std::{fs, process::Command};

use crate::tool::{seen, tool};

/// What follows the name of the tool, for it and for each command that its help names, and theirs.
fn commands() -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut next = 0;
    while let Some(command) = commands.get(next).cloned() {
        next += 1;
        let help = help(&command);
        let (_, listed) = help.split_once("\nCommands:\n").unwrap_or_default();
        let listed = listed.lines().take_while(|line| line.starts_with("  "));
        let names = listed.filter(|line| !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            if name != "help" {
                commands.push([&command[..], &[name.to_owned()]].concat());
            }
        }
    }
    commands
}

fn help(command: &[String]) -> String {
    let (exit, out, error) = seen(&tool([]).args(command).arg("--help").output().unwrap());
    assert_eq!((exit, &*error), (Some(0), ""), "{command:?}");
    out
}

#[test]
fn each_command_has_its_help_and_a_case_that_shows_it() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/cases");
    let cases = fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path());
    let cases: String = cases.map(|case| fs::read_to_string(case).unwrap()).collect();
    let commands = commands();
    assert!(commands.len() >= 26, "{commands:?}");
    for command in commands {
        let name: String = command.iter().map(|word| format!(" {word}")).collect();
        let help = help(&command);
        let (says, usage) = help.split_once("\n\nUsage: ").unwrap();
        assert!(!says.trim().is_empty(), "{name}");
        assert!(usage.starts_with(&format!("article-webhook{name} ")), "{name}: {usage}");
        let case = format!("$ article-webhook{name} --help\n");
        assert!(cases.contains(&case), "no case has: {case}");
    }
}

/// What bash completes, rather than what the script contains.
#[test]
fn bash_completes_subcommands_and_their_options() {
    let script = "source <(\"$0\" completions bash)
        completed() {
            COMP_WORDS=(article-webhook \"$@\") COMP_CWORD=$# COMPREPLY=()
            _article__webhook article-webhook \"${*: -1}\" \"${*: -2:1}\"
            echo \"${COMPREPLY[*]}\"
        }
        completed in; completed inbox li; completed inbox list --sta; completed send --fau";
    let bash = Command::new("bash")
        .args(["--norc", "-c", script, env!("CARGO_BIN_EXE_article-webhook")])
        .output()
        .unwrap();
    let (exit, out, error) = seen(&bash);
    assert_eq!((exit, &*error), (Some(0), ""));
    assert_eq!(out, "inbox\nlist\n--state\n--fault\n");
}
