use std::{
    io::{IsTerminal, stderr, stdin},
    path::PathBuf,
};

use article_inbox::{Entry, Error, Filter, Inbox, State};
use article_webhook::JobId;
use clap::Args;
use serde_json::json;

use super::{
    selection::{FilterArguments, Selection, together},
    view,
};
use crate::{context::Context, exit::Exit, failure::Failure, output::Output, store};

/// How many of the entries a dry run and a question show to people.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct ChangeArguments {
    /// The file of the inbox
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The jobs; without them, filters select the entries
    #[arg(value_name = "JOB")]
    jobs: Vec<JobId>,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    filter: FilterArguments,
    /// All entries that the command is for
    #[arg(long, conflicts_with = "jobs", help_heading = "Filters")]
    all: bool,
}

impl ChangeArguments {
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Jobs that are named are meant in any state. A filter that names no state means the states the command is for.
    fn selection(&self, change: &Change) -> Selection {
        let filters = if !self.jobs.is_empty() {
            self.jobs.iter().map(|job| self.filter.filter(Some(job.clone()))).collect()
        } else if self.filter.state().is_some() {
            vec![self.filter.filter(None)]
        } else {
            let of_state =
                |&state: &State| Filter { state: Some(state), ..self.filter.filter(None) };
            change.states().iter().map(of_state).collect()
        };
        Selection { filters }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Change {
    Requeue,
    Bury { cause: String },
    Forget,
}

impl Change {
    fn verb(&self) -> &'static str {
        match self {
            Self::Requeue => "requeue",
            Self::Bury { .. } => "bury",
            Self::Forget => "forget",
        }
    }

    fn done(&self) -> &'static str {
        match self {
            Self::Requeue => "requeued",
            Self::Bury { .. } => "buried",
            Self::Forget => "forgot",
        }
    }

    /// The states of the entries that a filter without a state means.
    fn states(&self) -> &'static [State] {
        match self {
            Self::Requeue => &[State::Dead, State::Unhandled, State::Corrupt],
            Self::Bury { .. } => &[State::Waiting, State::Unhandled, State::Corrupt],
            Self::Forget => &State::ALL,
        }
    }

    fn why_not(&self) -> &'static str {
        match self {
            Self::Requeue => "a worker has it, or retention has removed its bodies",
            Self::Bury { .. } => "only a waiting, unhandled or corrupt entry can be buried",
            Self::Forget => "it is gone already",
        }
    }

    async fn apply(self, inbox: Inbox, entry: Entry) -> Result<u64, Error> {
        match self {
            // One that has left its state since it was selected stays as it is: it may be done now.
            Self::Requeue => {
                inbox.ledger().requeue(entry.key, Some(entry.state)).await.map(u64::from)
            }
            Self::Bury { cause } => inbox.bury(entry.key, cause).await.map(u64::from),
            Self::Forget => inbox.forget(entry.key.job_id).await,
        }
    }
}

pub(super) async fn run(
    change: Change,
    arguments: ChangeArguments,
    context: &Context,
) -> Result<Exit, Failure> {
    let verb = change.verb();
    let is_bulk = arguments.jobs.is_empty();
    if is_bulk && arguments.filter.is_empty() && !arguments.all {
        return Err(Failure::usage(format!("{verb}: expected jobs, a filter, or --all"))
            .mend(format!("article-webhook inbox {verb} FILE --state dead --dry-run")));
    }
    let inbox = store::shared(&arguments.file).await?;
    let selection = arguments.selection(&change);
    let (matched, first) = survey(&selection, &inbox, &arguments, &context.output).await?;
    if matched == 0 {
        return Err(Failure::nothing_matched("no entry matches"));
    }
    if arguments.dry_run {
        if !context.output.is_json() {
            show(&first, matched, &context.output)?;
        }
        context.output.note(&format!("would {verb} {}; nothing was changed", entries(matched)));
        return Ok(Exit::Done);
    }
    if is_bulk && !arguments.yes {
        confirm(verb, matched, &first, &context.output).await?;
    }
    let mut changed = 0;
    selection
        .pages(&inbox, async |page| {
            let call = |entry| change.clone().apply(inbox.clone(), entry);
            changed += together(page, call).await?;
            context.output.progress(&format!("{} {changed} of {matched}", change.done()));
            Ok::<_, Failure>(())
        })
        .await?;
    context.output.progress("");
    if changed == 0 {
        return Err(Failure::failed(format!(
            "could not {verb} {}: {}",
            entries(matched),
            change.why_not()
        )));
    }
    let rest = match matched.saturating_sub(changed) {
        0 => String::new(),
        rest => format!("; not {rest}: {}", change.why_not()),
    };
    let value = json!({ "changed": changed, "matched": matched });
    context.output.either(&value, &format!("{} {}{rest}", change.done(), entries(changed)))?;
    Ok(Exit::Done)
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// Counts the entries, and returns the first of them. A dry run for machines prints all.
async fn survey(
    selection: &Selection,
    inbox: &Inbox,
    arguments: &ChangeArguments,
    output: &Output,
) -> Result<(u64, Vec<Entry>), Failure> {
    let (mut matched, mut first) = (0, Vec::new());
    selection
        .pages(inbox, async |page| {
            matched += page.len() as u64;
            if arguments.dry_run && output.is_json() {
                page.iter().try_for_each(|entry| output.json(&view::json(entry)))?;
            }
            first.extend(page.into_iter().take(SHOWN - first.len().min(SHOWN)));
            Ok::<_, Failure>(())
        })
        .await?;
    Ok((matched, first))
}

fn show(first: &[Entry], matched: u64, output: &Output) -> Result<(), Failure> {
    view::table(first).write(output)?;
    if matched > first.len() as u64 {
        output.line(&format!("… and {} more", matched - first.len() as u64))?;
    }
    Ok(())
}

async fn confirm(
    verb: &str,
    matched: u64,
    first: &[Entry],
    output: &Output,
) -> Result<(), Failure> {
    if output.is_json() || !stdin().is_terminal() || !stderr().is_terminal() {
        let what = format!("{verb} of {} needs a confirmation", entries(matched));
        return Err(Failure::usage(what).mend("add --yes; --dry-run shows what would be done"));
    }
    show(first, matched, output)?;
    output.note(&format!("{verb} {}? [y/N]", entries(matched)));
    let read = tokio::task::spawn_blocking(|| stdin().lines().next());
    let answer = read.await.ok().flatten().and_then(Result::ok).unwrap_or_default();
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::failed("nothing was changed")),
    }
}
