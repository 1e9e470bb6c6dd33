//! The pages, and the commands that stand in them.

use std::{
    fs::{read_dir, read_to_string},
    path::{Path, PathBuf},
};

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What begins a command of a page.
const PROGRAMS: [&str; 5] = ["article-webhook", "cargo", "curl", "export", "tests/run"];

/// How the tool is run by cargo.
const BY_CARGO: &str = "cargo run -p article-webhook-cli -- ";

pub(crate) struct Page {
    /// Its path from the root.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Where a command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of a block of code: it runs as it is.
    Block,
    /// In a sentence, which may leave arguments out.
    Sentence,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) place: Place,
    /// Without a prompt, a `&` at its end and a comment; an alias of cargo is replaced by what it stands for.
    pub(crate) text: String,
    /// The lines below it that the page says it prints.
    pub(crate) prints: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Command(Command),
    /// A session is shown, with prompts: it begins with the variables of the reader, not with those of the page.
    Session,
    /// The text says that what runs is ended, by Ctrl-C.
    End,
}

/// The README of the repository, those of the crates, and the guide.
pub(crate) fn all() -> Vec<Page> {
    let root = Path::new(ROOT);
    let within = |folder: &str| {
        let entries = read_dir(root.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let crates = within("crates").into_iter().map(|path| path.join("README.md"));
    let guide = within("crates/article-webhook/src/guide");
    let paths = crates.chain(guide).chain([root.join("README.md")]);
    let is_page = |path: &PathBuf| path.extension().is_some_and(|it| it == "md") && path.exists();
    let mut pages: Vec<_> = paths
        .filter(is_page)
        .map(|path| Page {
            name: path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
            text: read_to_string(path).unwrap(),
        })
        .collect();
    pages.sort_by(|one, other| one.name.cmp(&other.name));
    pages
}

impl Page {
    /// Its commands in order.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut is_block = false;
        // Whether a command stands above in this block, so that the line is what it prints.
        let mut is_printed = false;
        for line in self.text.replace("\\\n", " ").lines() {
            if line.trim_start().starts_with("```") {
                is_block = !is_block;
                is_printed = false;
            } else if !is_block {
                if line.contains("Ctrl-C") {
                    steps.push(Step::End);
                }
                let spans = line.split('`').skip(1).step_by(2).filter(|span| span.contains(' '));
                steps.extend(spans.filter_map(|span| command(Place::Sentence, span)));
            } else if let Some(command) = command(Place::Block, line) {
                if !is_printed && line.starts_with("$ ") {
                    steps.push(Step::Session);
                }
                steps.push(command);
                is_printed = true;
            } else if let (true, Some(Step::Command(above))) = (is_printed, steps.last_mut()) {
                above.prints.push(line.to_owned());
            }
        }
        steps
    }

    pub(crate) fn commands(&self) -> Vec<Command> {
        let is_command = |step| match step {
            Step::Command(command) => Some(command),
            Step::Session | Step::End => None,
        };
        self.steps().into_iter().filter_map(is_command).collect()
    }

    /// Whether it has these words, however its lines are broken.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
    }
}

fn command(place: Place, line: &str) -> Option<Step> {
    let line = line.trim().trim_start_matches("$ ");
    let line = line.split(" # ").next().unwrap_or(line).trim_end().trim_end_matches(" &");
    // Variables may stand before the program.
    let words = shlex::split(line)?;
    let program = words.iter().find(|word| !is_variable(word))?;
    let text = PROGRAMS.contains(&&**program).then(|| without_alias(line))?;
    Some(Step::Command(Command { place, text, prints: Vec::new() }))
}

/// Whether a word sets a variable for the command.
fn is_variable(word: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// The command that a name of `.cargo/config.toml` stands for, and the tool for cargo that runs it.
fn without_alias(text: &str) -> String {
    let file = read_to_string(Path::new(ROOT).join(".cargo/config.toml")).unwrap();
    let aliases = file.lines().filter_map(|line| line.split_once(" = "));
    let stands_for = |(name, value): (&str, &str)| {
        let rest = text.strip_prefix(&format!("cargo {name}"))?;
        let is_it = rest.is_empty() || rest.starts_with(' ');
        is_it.then(|| format!("cargo {}{rest}", value.trim_matches('"')))
    };
    let text = aliases.into_iter().find_map(stands_for).unwrap_or_else(|| text.to_owned());
    match text.strip_prefix(BY_CARGO) {
        Some(arguments) => format!("article-webhook {arguments}"),
        None => text,
    }
}
