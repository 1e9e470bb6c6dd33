use std::path::PathBuf;

use article_inbox::Filter;
use clap::Args;

use super::{selection::ChoiceArguments, view};
use crate::{context::Context, exit::Exit, failure::Failure, store};

/// How many entries are read at once when all are listed.
const PAGE: u32 = 500;

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// The file of the inbox
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How many entries to list
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// List the entries after this id, as the end of a page says
    #[arg(long, value_name = "ID", default_value_t = 0)]
    after: i64,
    /// List all entries
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    choice: ChoiceArguments,
}

pub(super) async fn run(arguments: ListArguments, context: &Context) -> Result<Exit, Failure> {
    let inbox = store::shared(&arguments.file).await?;
    let limit = if arguments.all { PAGE } else { arguments.limit };
    let mut filter = Filter { after: arguments.after, limit, ..arguments.choice.filter() };
    let mut is_empty = true;
    loop {
        let page = inbox.list(filter.clone()).await?;
        if page.entries.is_empty() {
            break;
        }
        is_empty = false;
        if context.output.is_json() {
            for entry in &page.entries {
                context.output.json(&view::json(entry))?;
            }
        } else {
            view::table(&page.entries).write(&context.output)?;
        }
        let Some(next) = page.next else { break };
        if !arguments.all {
            context.output.note(&format!("\nThere are more: --after {next}, or --all"));
            break;
        }
        filter.after = next;
    }
    match is_empty {
        true => Err(Failure::nothing_matched("no entry matches")),
        false => Ok(Exit::Done),
    }
}
