//! The end of each command's help.

use clap::Command;

/// Command lines. Each is an example of the command that it begins with.
const EXAMPLES: &str = include_str!("examples.txt");

/// Adds its examples to the help of a command, and theirs to its subcommands.
pub(super) fn added(command: Command) -> Command {
    added_at(command, "")
}

fn added_at(command: Command, path: &str) -> Command {
    let names: Vec<_> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    if names.is_empty() {
        let examples: String = of(path).map(|line| format!("\n  article-webhook {line}")).collect();
        let before = command.get_after_help().map(|help| format!("{help}\n\n"));
        return command.after_help(format!("{}Examples:{examples}", before.unwrap_or_default()));
    }
    names.iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |command| added_at(command, path.trim_start()))
    })
}

fn of(path: &str) -> impl Iterator<Item = &'static str> {
    let begins = move |line: &&str| format!("{line} ").starts_with(&format!("{path} "));
    EXAMPLES.lines().filter(begins)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use clap::{CommandFactory, Parser, error::ErrorKind};

    use crate::arguments::Arguments;

    use super::*;

    fn commands(command: &Command, path: &str) -> Vec<String> {
        let names = command.get_subcommands().map(|it| (it, format!("{path} {}", it.get_name())));
        let below: Vec<_> = names.flat_map(|(command, path)| commands(command, &path)).collect();
        if below.is_empty() { vec![path.trim_start().to_owned()] } else { below }
    }

    #[test]
    fn each_command_has_examples_that_are_understood() {
        for path in commands(&Arguments::command(), "") {
            assert!(of(&path).next().is_some(), "{path}");
        }
        for example in EXAMPLES.lines() {
            let words = shlex::split(&format!("article-webhook {example}")).unwrap();
            if let Err(error) = Arguments::try_parse_from(words) {
                panic!("{example}\n{error}");
            }
        }
    }

    /// The READMEs and the guide.
    #[test]
    fn each_command_of_the_pages_is_understood() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let within =
            |folder: &str| fs::read_dir(root.join(folder)).unwrap().map(|it| it.unwrap().path());
        let readmes = within("crates").map(|path| path.join("README.md"));
        let guide = within("crates/article-webhook/src/guide");
        let mut found = 0;
        for page in readmes.chain(guide).chain([root.join("README.md")]) {
            let text = fs::read_to_string(&page).unwrap_or_default().replace("\\\n", " ");
            for (number, part) in text.split("```").enumerate() {
                let is_block = number % 2 == 1;
                let commands: Vec<_> = match is_block {
                    true => part.lines().map(|line| line.trim_start_matches("$ ")).collect(),
                    false => part.split('`').skip(1).step_by(2).collect(),
                };
                for command in commands.iter().filter(|it| it.starts_with("article-webhook ")) {
                    let command = command.trim_end_matches(" &").trim_end_matches("help COMMAND");
                    found += 1;
                    let words = shlex::split(command).unwrap();
                    let Err(error) = Arguments::try_parse_from(words) else { continue };
                    let is_understood = match error.kind() {
                        ErrorKind::DisplayHelp => true,
                        // A sentence may leave arguments out.
                        ErrorKind::MissingRequiredArgument
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => !is_block,
                        _ => false,
                    };
                    assert!(is_understood, "{}: {command}: {error}", page.display());
                }
            }
        }
        assert!(found >= 50, "only {found} commands were found");
    }
}
