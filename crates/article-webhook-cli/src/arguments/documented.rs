//! Every command of the README, the crates' pages and the guide is one of this command line, and so is every command that
//! the tool shows.

use std::{
    fs::{read_dir, read_to_string},
    path::{Path, PathBuf},
};

use clap::{Parser, error::ErrorKind};

use super::Arguments;
use crate::text::command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What begins a command, and what it stands for.
const STARTS: [(&str, &str); 3] = [
    ("article-webhook ", ""),
    ("cargo run -p article-webhook-cli -- ", ""),
    // An alias, in `.cargo/config.toml`.
    ("cargo demo", "demo"),
];

/// Where a command stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A line of a block of code: it runs as it is.
    Block,
    /// In a sentence, which may leave arguments out.
    Sentence,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let within = |folder: &str| {
        let entries = read_dir(root.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let crates = within("crates").into_iter().map(|path| path.join("README.md"));
    let guide = within("crates/article-webhook/src/guide");
    let pages = crates.chain(guide).chain([root.join("README.md")]);
    pages.filter(|path| path.extension().is_some_and(|it| it == "md") && path.exists()).collect()
}

/// The arguments of the commands of a page.
fn commands(page: &str) -> Vec<(Place, String)> {
    let mut commands = Vec::new();
    let mut is_block = false;
    for line in page.replace("\\\n", " ").lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if is_block {
            commands.extend(arguments(line).map(|arguments| (Place::Block, arguments)));
        } else {
            let spans = line.split('`').skip(1).step_by(2).filter_map(arguments);
            commands.extend(spans.map(|arguments| (Place::Sentence, arguments)));
        }
    }
    commands
}

/// What follows the name of the tool, after a prompt and variables that are set for the command.
fn arguments(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("$ ").trim_end_matches(" &");
    let is_variable = |before: &str| {
        let words = shlex::split(before).unwrap_or_default();
        words.iter().all(|word| {
            word.split_once('=').is_some_and(|(name, _)| {
                name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            })
        })
    };
    STARTS.iter().find_map(|(start, stands_for)| {
        let (before, rest) = line.split_once(start)?;
        is_variable(before).then(|| format!("{stands_for} {rest}"))
    })
}

fn is_understood(place: Place, arguments: &str) -> Result<(), clap::Error> {
    // A word in capitals stands for one.
    let arguments = arguments.replace("help COMMAND", "help inbox");
    let words = shlex::split(&arguments).expect("quotation marks are in pairs");
    let words = words.into_iter().take_while(|word| !word.starts_with('#') && word != "|");
    let Err(error) =
        Arguments::try_parse_from(std::iter::once("article-webhook".to_owned()).chain(words))
    else {
        return Ok(());
    };
    let is_short = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(()),
        _ if is_short && place == Place::Sentence => Ok(()),
        _ => Err(error),
    }
}

#[test]
fn every_command_of_the_readmes_and_the_guide_is_understood() {
    let mut found = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        for (place, arguments) in commands(&read_to_string(&path).unwrap()) {
            found += 1;
            if let Err(error) = is_understood(place, &arguments) {
                wrong.push(format!("{}: article-webhook {arguments}\n{error}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 30, "only {found} commands were found");
}

#[test]
fn a_command_that_the_tool_does_not_have_is_found() {
    let page = "```sh\n$ A='b c' article-webhook list \\\n  inbox.db & \n```\nRun `article-webhook get`, \
                then `article-webhook get --no`, `cargo demo --headless # now` or `other article-webhook get`.\n";
    let found = commands(page);
    let understood: Vec<_> =
        found.iter().map(|(place, arguments)| is_understood(*place, arguments).is_ok()).collect();
    assert_eq!(
        understood,
        [false, true, false, true],
        "{:?}",
        found.iter().map(|it| &it.1).collect::<Vec<_>>()
    );
}

#[test]
fn every_command_that_is_shown_is_understood_whatever_it_is_about() {
    for word in ["inbox.db", "--all", "-y", "--", "job;curl${IFS}x|sh", "it's", "=x"] {
        let shown = [
            command::list(word),
            command::check_inbox(word),
            command::show_body(word, word),
            command::bury(word, word),
            command::forget(word, word),
            command::get(word),
            command::send("http://127.0.0.1:3000/webhooks/articles?a=b;c"),
            command::doctor("http://127.0.0.1:3000/webhooks/articles?a=b;c"),
            command::listen(word),
            command::collect(word),
            command::collect_job(word),
            command::order(word, word),
            command::order_again(word, word),
        ];
        for shown in shown {
            let arguments = shown.strip_prefix("article-webhook ").unwrap();
            if let Err(error) = is_understood(Place::Block, arguments) {
                panic!("{shown}\n{error}");
            }
        }
        let forget = shlex::split(&command::forget("inbox.db", word)).unwrap();
        let parsed = format!("{:?}", Arguments::try_parse_from(forget).unwrap());
        assert!(parsed.contains("all: false") && parsed.contains("yes: false"), "{parsed}");
        assert!(parsed.contains(&format!("jobs: [JobId({word:?})]")), "{parsed}");
    }
}
