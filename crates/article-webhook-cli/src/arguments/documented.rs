//! Every command of the README, the crates' pages and the guide is one of this command line, and so is every command that
//! the tool shows. The test `documented` runs those of the pages.

use clap::{Parser, error::ErrorKind};

use super::Arguments;
use crate::text::command;

#[allow(dead_code, reason = "the test that follows the pages uses more of it")]
#[path = "../../tests/documented/pages.rs"]
mod pages;

use self::pages::{Page, Place};

/// The arguments of the tool's commands on a page.
fn commands(page: &Page) -> Vec<(Place, String)> {
    let arguments = |command: pages::Command| {
        let (_, arguments) = command.text.split_once("article-webhook ")?;
        Some((command.place, arguments.to_owned()))
    };
    let is_tool = |command: &pages::Command| !command.text.starts_with("cargo ");
    page.commands().into_iter().filter(is_tool).filter_map(arguments).collect()
}

fn is_understood(place: Place, arguments: &str) -> Result<(), clap::Error> {
    // A word in capitals stands for one.
    let arguments = arguments.replace("help COMMAND", "help inbox");
    let words = shlex::split(&arguments).expect("quotation marks are in pairs");
    let words = words.into_iter().take_while(|word| word != "|");
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
    for page in pages::all() {
        for (place, arguments) in commands(&page) {
            found += 1;
            if let Err(error) = is_understood(place, &arguments) {
                wrong.push(format!("{}: article-webhook {arguments}\n{error}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(found > 30, "only {found} commands were found");
}

#[test]
fn a_command_that_the_tool_does_not_have_is_found() {
    let text = "```sh\n$ A='b c' article-webhook list \\\n  inbox.db & \n```\nRun `article-webhook get`, \
                then `article-webhook get --no`, `cargo demo --headless # now` or `other article-webhook get`.\n";
    let found = commands(&Page { name: String::new(), text: text.to_owned() });
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
            command::list_in(word, "dead"),
            command::requeue_group(word, "dead", word),
            command::status(word),
            command::full_status(word),
            command::show_body(word, word),
            command::discard(word, word),
            command::erase(word, word),
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
        let erase = shlex::split(&command::erase("inbox.db", word)).unwrap();
        let parsed = format!("{:?}", Arguments::try_parse_from(erase).unwrap());
        assert!(parsed.contains("all: false") && parsed.contains("yes: false"), "{parsed}");
        assert!(parsed.contains(&format!("jobs: [JobId({word:?})]")), "{parsed}");
    }
}
