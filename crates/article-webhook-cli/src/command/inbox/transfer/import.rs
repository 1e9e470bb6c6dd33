use std::{
    io::{IsTerminal, stdin},
    path::PathBuf,
};

use clap::Args;
use serde_json::json;

use super::counting::Counting;
use crate::{
    context::Context, exit::Exit, failure::Failure, settings::input, store::InboxArgument,
};

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The inbox: a file, a PostgreSQL URL, or env:NAME for a variable with one of them
    #[arg(value_name = "INBOX")]
    inbox: InboxArgument,
    /// What `inbox export` wrote [default: standard input]
    #[arg(value_name = "LINES")]
    lines: Option<PathBuf>,
}

pub(crate) async fn run(arguments: ImportArguments, context: &Context) -> Result<Exit, Failure> {
    let lines = match &arguments.lines {
        None => input::standard(),
        Some(path) => input::file(path).map_err(|error| {
            Failure::usage(format!("{} cannot be read", path.display()))
                .because(&error)
                .fix("name a file that you may read, or leave it out for standard input")
        })?,
    };
    let inbox = arguments.inbox.place(&context.environment)?.shared().await?;
    if arguments.lines.is_none() && stdin().is_terminal() {
        context.output.note("The lines are read from the terminal; Ctrl-D ends them.");
    }
    let mut lines = Counting::new(lines, "read", &context.output);
    let imported = inbox.import(&mut lines).await;
    lines.into_inner();
    let imported = imported?;
    let (added, present) = (imported.added, imported.present);
    let line = format!("added {added} entries; {present} were there already");
    context.output.either(&json!({ "added": added, "present": present }), &line)?;
    Ok(Exit::Done)
}
