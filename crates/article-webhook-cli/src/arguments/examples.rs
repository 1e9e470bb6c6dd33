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
