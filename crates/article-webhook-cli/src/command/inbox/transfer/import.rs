use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal, Seek, stdin},
    path::PathBuf,
};

use article_webhook_inbox::{Error, Imported, Inbox};
use clap::Args;
use serde_json::json;

use super::progress::{Counting, Whole};
use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    settings::input,
    store::{InboxWord, Place},
    text::number::{counted, entries},
};

/// What the inbox says of an export that is not whole. Here it is an option.
const PARTIAL: &str = ": export again, or import it as a partial export";

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    #[command(flatten)]
    inbox: InboxWord,
    /// What `inbox export` wrote [default: standard input]
    #[arg(value_name = "LINES")]
    lines: Option<PathBuf>,
    /// Add what is there of an export that was cut off or changed
    #[arg(long)]
    partial: bool,
}

impl ImportArguments {
    /// A whole export is read twice. What a pipe or a terminal gives is kept in a temporary file without a name for that.
    fn whole(&self, mut lines: impl BufRead) -> io::Result<BufReader<File>> {
        if let Some(path) = self.lines.as_ref().filter(|path| path.is_file()) {
            return File::open(path).map(BufReader::new);
        }
        let mut kept = tempfile::tempfile()?;
        io::copy(&mut lines, &mut kept)?;
        kept.rewind()?;
        Ok(BufReader::new(kept))
    }

    async fn add(
        &self,
        lines: impl BufRead,
        inbox: &Inbox,
        context: &Context,
    ) -> Result<Imported, Failure> {
        if self.partial {
            let mut lines = Counting::new(lines, "read", Whole::Unknown, &context.output);
            let imported = inbox.import_partial(&mut lines).await;
            lines.into_inner();
            let fix = "correct or remove that line; what was before it is added, and a repeated import leaves it as it is";
            return imported.map_err(|error| failed(error, fix));
        }
        let lines = self.whole(lines).map_err(|error| {
            Failure::failed("what is imported cannot be kept in a temporary file")
                .because(&error)
                .fix("write it to a file, and name that")
        })?;
        let bytes = lines.get_ref().metadata().map_or(Whole::Unknown, |it| Whole::Bytes(it.len()));
        let mut lines = Counting::new(lines, "read", bytes, &context.output);
        let imported = inbox.import(&mut lines).await;
        lines.into_inner();
        imported.map_err(|error| {
            let failure = failed(error, "export again, or add what is there with --partial");
            let what = failure.what.strip_suffix(PARTIAL).unwrap_or(&failure.what).to_owned();
            Failure { what, ..failure }
        })
    }
}

fn failed(error: Error, fix: &str) -> Failure {
    let is_invalid = error.is_invalid();
    let failure = Failure::from(error);
    if is_invalid { failure.fix(fix) } else { failure }
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
    let place = arguments.inbox.place(&context.environment)?;
    place.make_if_missing(&context.output).await?;
    let inbox = opened(&place).await?;
    if arguments.lines.is_none() && stdin().is_terminal() {
        context.output.note("The lines are read from the terminal; Ctrl-D ends them.");
    }
    let imported = arguments.add(lines, &inbox, context).await;
    // Closed also after an error, so that no log stays beside the file.
    let closed = inbox.close().await;
    let imported = imported?;
    closed?;
    let (added, present) = (imported.added, imported.present);
    let line = format!("added {}; {}", entries(added), already(present));
    context.output.either("import", &json!({ "added": added, "present": present }), &line)?;
    Ok(Exit::Done)
}

pub(crate) fn already(present: u64) -> String {
    counted(present, "was there already", "were there already")
}

/// The inbox by itself, so that it keeps its log small, or beside the process that works on it.
pub(crate) async fn opened(place: &Place) -> Result<Inbox, Failure> {
    let shared = place.shared().await?;
    if place.is_worked_on() {
        return Ok(shared);
    }
    shared.close().await?;
    match place.exclusive().await {
        Err(_) if place.is_worked_on() => place.shared().await,
        opened => opened,
    }
}
