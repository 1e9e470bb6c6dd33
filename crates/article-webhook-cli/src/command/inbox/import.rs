use std::{
    io::{self, IsTerminal, stdin},
    path::PathBuf,
};

use article_webhook_inbox::{Error, Imported, Inbox, store::Progress};
use clap::Args;
use serde_json::json;
use tokio::{
    fs::File,
    io::{AsyncBufRead, AsyncSeekExt as _, BufReader, copy_buf},
};

use crate::{
    command::inbox::salvage::gaps,
    context::Context,
    failure::{Exit, Failure},
    settings::input,
    store::{InboxArgument, InboxWord, Place},
    text::{command::quoted, counted, entries, moment::exact},
};

/// What the inbox says of an export that is not whole. Here it is an option.
const PARTIAL: &str = ": export again, or import it as a partial export";

#[derive(Debug, Args)]
pub(super) struct ImportArguments {
    #[command(flatten)]
    inbox: InboxWord,
    /// The output of `inbox export` [default: standard input]
    #[arg(value_name = "LINES")]
    lines: Option<PathBuf>,
    /// Add the readable entries even if the export was truncated or changed
    #[arg(long)]
    partial: bool,
}

impl ImportArguments {
    fn is_typed(&self) -> bool {
        self.lines.is_none() && stdin().is_terminal()
    }

    /// A whole export is read twice. What a pipe or a terminal gives is kept in a temporary file without a name for that.
    async fn whole(&self, mut lines: impl AsyncBufRead + Unpin) -> io::Result<File> {
        if let Some(path) = self.lines.as_ref().filter(|path| path.is_file()) {
            return File::open(path).await;
        }
        let mut kept = File::from_std(tempfile::tempfile()?);
        copy_buf(&mut lines, &mut kept).await?;
        kept.rewind().await?;
        Ok(kept)
    }

    async fn add(
        &self,
        lines: impl AsyncBufRead + Unpin,
        inbox: &Inbox,
        context: &Context,
    ) -> Result<Imported, Failure> {
        let output = &context.output;
        if self.partial {
            let work = inbox.import_partial(lines);
            // Progress on the same terminal would wipe away what is typed.
            let imported = match self.is_typed() {
                true => work.await,
                false => output.during("importing", work).await,
            };
            let fix = "correct or remove that line; what was before it is added, and a repeated import leaves it as it is";
            return imported.map_err(|error| failed(error, fix));
        }
        let lines = self.whole(lines).await.map_err(|error| {
            Failure::failed("the lines to import cannot be kept in a temporary file")
                .because(&error)
                .fix("write the export to a file, and name that file")
        })?;
        let imported = output.during("importing", inbox.import(BufReader::new(lines))).await;
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

pub(super) async fn run(arguments: ImportArguments, context: &Context) -> Result<Exit, Failure> {
    let lines = match &arguments.lines {
        None => input::standard(),
        Some(path) => input::file(path).await.map_err(|error| {
            Failure::of_file(path, &error)
                .fix("name a file that you may read, or leave it out for standard input")
        })?,
    };
    let place = arguments.inbox.place(&context.environment)?;
    place.make_if_missing(&context.output).await?;
    let inbox = opened(&place).await?;
    if arguments.is_typed() {
        context.output.note("The lines are read from the terminal; Ctrl-D ends them.");
    }
    let imported = arguments.add(lines, &inbox, context).await;
    // Closed also after an error, so that no log stays beside the file.
    let closed = inbox.close().await;
    let imported = imported?;
    closed?;
    let (added, present) = (imported.added, imported.present);
    let line = format!("added {}; {}", entries(added), already(present));
    context.output.done("import", &json!({ "added": added, "present": present }), &line)
}

pub(super) fn already(present: u64) -> String {
    counted(present, "was there already", "were there already")
}

/// The inbox by itself, so that it keeps its log small, or beside the process that works on it.
pub(super) async fn opened(place: &Place) -> Result<Inbox, Failure> {
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

pub(super) const COPY_HELP: &str = "\
A receiver may work on TO meanwhile, but none on FROM. An entry that is done in FROM is also done in TO. If an entry is dead in FROM, \
no handler gets a delivery of it in TO. After `salvage --begin`, a complete copy ends the pause. A copy that was interrupted can be repeated.";

#[derive(Debug, Args)]
pub(super) struct CopyArguments {
    /// The inbox to read: a file, a PostgreSQL URL, or env:NAME for a variable with one of them
    #[arg(value_name = "FROM")]
    from: InboxArgument,
    /// The inbox to copy into
    #[arg(value_name = "TO")]
    to: InboxArgument,
}

pub(super) async fn copy(arguments: CopyArguments, context: &Context) -> Result<Exit, Failure> {
    let from = arguments.from.place(&context.environment)?;
    let place = arguments.to.place(&context.environment)?;
    if from.is_worked_on() {
        return Err(Failure::usage(format!("a receiver works on {}", from.shown()))
            .fix("stop the receiver first: what it stores meanwhile might not be copied"));
    }
    let from = from.read().await?;
    let to = opened(&place).await?;
    let was_paused = to.ledger().paused_since().await?.is_some();
    let progress = Progress::default();
    let work = to.copy_with(&from, &progress);
    let copied = context.output.during_known("copying", &progress, work).await;
    let paused_since = to.ledger().paused_since().await;
    let gaps_since = to.ledger().ledger_counts().await.map(|counts| counts.gaps_since);
    // Closed also after an error, so that no log stays beside the files.
    let closed = (from.close().await, to.close().await);
    let (copied, paused_since, gaps_since) = (copied?, paused_since?, gaps_since?);
    closed.0.and(closed.1)?;
    if context.output.is_json() {
        let value = json!({
            "added": copied.added,
            "present": copied.present,
            "paused_since": paused_since.map(|since| exact(since.at)),
            "ledger_has_gaps": gaps_since.is_some(),
        });
        context.output.json("copy", &value)?;
        return Ok(Exit::Done);
    }
    let (added, present) = (entries(copied.added), already(copied.present));
    context.output.line(&format!("added {added}; {present}"))?;
    match paused_since.map(|since| exact(since.at)) {
        Some(since) => {
            context.output.line(&format!("paused since {since}: `inbox resume` ends that"))?;
        }
        None if was_paused => context.output.line("not paused: workers get entries again")?,
        None => {}
    }
    if gaps_since.is_some() {
        context.output.line(&gaps(&quoted(place.shown())))?;
    }
    Ok(Exit::Done)
}
