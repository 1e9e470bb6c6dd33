mod action;

use std::collections::{BTreeMap, HashSet};

use article_webhook::JobId;
use article_webhook_inbox::{Entry, Error, Filter, Inbox, State, cause_group};
use clap::Args;
use serde_json::json;

use super::{
    selection::{FilterArguments, Selection, what_there_is},
    view,
};
use crate::{
    command::confirm::confirm,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    store::InboxWord,
    text::{command, counted, entries, escape},
};
use action::Applied;

pub(super) use self::action::Change;

/// Why nothing was done with an entry that was counted, and not met again page by page.
const NOT_SELECTED: &str = "it is no longer in the selection: another command or a worker has changed it, or it was erased";

#[derive(Debug, Args)]
pub(super) struct ChangeArguments {
    #[command(flatten)]
    inbox: InboxWord,
    /// The jobs; without them, filters select the entries
    #[arg(value_name = "JOB")]
    jobs: Vec<JobId>,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    filter: FilterArguments,
    /// Select without another filter
    #[arg(long, conflicts_with = "jobs", help_heading = "Filters")]
    all: bool,
}

impl ChangeArguments {
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Jobs that are named are meant in any state. A filter that names no state means the states the command is for.
    fn selection(&self, change: &Change, first: Option<u64>) -> Selection {
        let filters = if !self.jobs.is_empty() {
            self.jobs.iter().map(|job| self.filter.filter(Some(job.clone()))).collect()
        } else if self.filter.state().is_some() {
            vec![self.filter.filter(None)]
        } else {
            let of_state =
                |&state: &State| Filter { state: Some(state), ..self.filter.filter(None) };
            change.states().iter().map(of_state).collect()
        };
        let at_most =
            first.map_or(usize::MAX, |first| usize::try_from(first).unwrap_or(usize::MAX));
        Selection { filters, at_most }
    }
}

/// Why an entry was not erased: a job is erased with all its entries, or not at all.
const PART_OF_A_JOB: &str =
    "the filters leave out another entry of its job, which would be erased with it";

pub(super) async fn run(
    change: Change,
    mut arguments: ChangeArguments,
    first: Option<u64>,
    context: &Context,
) -> Result<Exit, Failure> {
    let mut named = HashSet::new();
    arguments.jobs.retain(|job| named.insert(job.clone()));
    let verb = change.verb();
    let is_bulk = arguments.jobs.is_empty();
    if is_bulk && arguments.filter.is_empty() && !arguments.all {
        return Err(Failure::usage(format!("{verb}: expected jobs, a filter, or --all"))
            .fix(format!("article-webhook inbox {verb} INBOX --state dead --dry-run")));
    }
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = match arguments.dry_run {
        true => place.read().await?,
        false => place.shared().await?,
    };
    let selection = arguments.selection(&change, first);
    let Survey { matched, first, causes, parts } =
        survey(&change, &selection, &inbox, &arguments, &context.output).await?;
    let Missing { lines: missing, ordered } = missing(&change, &arguments, &inbox).await?;
    // The others that are named are changed all the same.
    let end = || match &missing[..] {
        [] => Ok(Exit::Done),
        missing => Err(Failure::nothing_matched(missing.join("; ")).fix(what_there_is(&place))),
    };
    if matched == 0 && ordered.is_empty() {
        if parts > 0 {
            return Err(Failure::nothing_matched(format!("{}: {PART_OF_A_JOB}", entries(parts)))
                .fix(format!(
                    "name the jobs to erase them whole: {}",
                    command::list(place.shown())
                )));
        }
        end()?;
        return Err(Failure::nothing_matched("no entry matches").fix(what_there_is(&place)));
    }
    if parts > 0 {
        context.output.note(&format!("not {}: {PART_OF_A_JOB}", entries(parts)));
    }
    if arguments.dry_run {
        if !context.output.is_json() {
            show(&first, matched, &context.output)?;
            context.output.line("")?;
            causes.write(&context.output)?;
        }
        let what = with_jobs(matched, ordered.len());
        context.output.note(&format!("would {verb} {what}; nothing was changed"));
        return end();
    }
    if is_bulk && !arguments.yes {
        let entries = entries(matched);
        let show = || causes.write(&context.output);
        let (what, question) = (format!("{verb} of {entries}"), format!("{verb} {entries}"));
        confirm(&what, &question, show, &context.output).await?;
    }
    let (mut changed, mut left) = (0, BTreeMap::<_, u64>::new());
    let interrupted_at = |changed| {
        let what = format!("{} at least {changed} of {}", change.done(), entries(matched));
        context.interruption.means(what, "repeat the command for the others");
    };
    interrupted_at(changed);
    let at = inbox.ledger().now();
    let all = selection.pages(&inbox, async |page| {
        let (page, _) = whole(&change, &selection, &inbox, page).await?;
        let note = |applied| match applied {
            Applied::Changed(count) => changed += count,
            Applied::Left(why) => *left.entry(why).or_default() += 1,
        };
        let outcome = change.apply(page, at, &inbox, note).await;
        interrupted_at(changed);
        context.output.progress(&format!("{} {changed} of {matched}", change.done()));
        outcome
    });
    let outcome = all.await;
    context.output.progress("");
    context.interruption.means_nothing_more();
    if let Err(error) = outcome {
        let before = format!("{} {changed} of {}, then failed", change.done(), entries(matched));
        let failure = Failure::from(error).after(&before);
        return Err(match failure.fix {
            Some(_) => failure,
            None => failure.fix("repeat the command for the others"),
        });
    }
    for job in &ordered {
        inbox.erase(job.clone()).await?;
    }
    let not_met = matched.saturating_sub(changed + left.values().sum::<u64>());
    if not_met > 0 {
        *left.entry(NOT_SELECTED).or_default() += not_met;
    }
    if changed == 0 && ordered.is_empty() {
        let why = left.iter().map(|(why, count)| match count {
            count if *count == matched => (*why).to_owned(),
            count => format!("{count} of them: {why}"),
        });
        let why = why.collect::<Vec<_>>().join("; ");
        let list = command::list(place.shown());
        return Err(Failure::failed(format!("could not {verb} {}: {why}", entries(matched)))
            .fix(format!("see their states: {list}")));
    }
    let left: String = left.iter().map(|(why, count)| format!("; not {count}: {why}")).collect();
    let value =
        json!({ "changed": changed, "matched": matched, "jobs_without_entry": ordered.len() });
    let what = with_jobs(changed, ordered.len());
    context.output.either("change", &value, &format!("{} {what}{left}", change.done()))?;
    end()
}

fn with_jobs(changed: u64, jobs: usize) -> String {
    let jobs = match jobs {
        0 => return entries(changed),
        jobs => counted(jobs as u64, "job that has no entry", "jobs that have no entry"),
    };
    if changed == 0 { jobs } else { format!("{} and {jobs}", entries(changed)) }
}

/// The named jobs without an entry that is meant.
struct Missing {
    /// Why there is none.
    lines: Vec<String>,
    /// What the ledger knows of them is erased.
    ordered: Vec<JobId>,
}

async fn missing(
    change: &Change,
    arguments: &ChangeArguments,
    inbox: &Inbox,
) -> Result<Missing, Error> {
    let has_entry = async |filter: Filter| {
        let page = inbox.list(Filter { limit: 1, ..filter }).await?;
        Ok::<_, Error>(!page.items.is_empty())
    };
    let (mut lines, mut ordered) = (Vec::new(), Vec::new());
    for job in &arguments.jobs {
        if has_entry(arguments.filter.filter(Some(job.clone()))).await? {
            continue;
        }
        let any = Filter { job_id: Some(job.clone()), ..Filter::default() };
        let job_id = job.as_str();
        lines.push(if has_entry(any).await? {
            format!("no entry of {job_id} passes the filters")
        } else if inbox.ledger().job(job.clone()).await?.is_none() {
            format!("nothing is known of {job_id}")
        } else if matches!(change, Change::Erase) && arguments.filter.is_empty() {
            ordered.push(job.clone());
            continue;
        } else {
            format!("{job_id} is in the ledger, and has no entry")
        });
    }
    Ok(Missing { lines, ordered })
}

/// How many of the entries a dry run and a question show to people.
const SHOWN: usize = 20;

/// The entries of a page that can be changed without others, and how many cannot: a job is erased with all its entries.
async fn whole(
    change: &Change,
    selection: &Selection,
    inbox: &Inbox,
    page: Vec<Entry>,
) -> Result<(Vec<Entry>, u64), Error> {
    if !matches!(change, Change::Erase) {
        return Ok((page, 0));
    }
    let jobs: HashSet<_> = page.iter().map(|entry| entry.key.job_id.clone()).collect();
    let all = inbox.ledger().entries_of(jobs.into_iter().collect()).await?;
    let left = all.into_iter().filter(|entry| !selection.accepts(entry));
    let left: HashSet<_> = left.map(|entry| entry.key.job_id).collect();
    let (whole, parts): (Vec<_>, Vec<_>) =
        page.into_iter().partition(|entry| !left.contains(&entry.key.job_id));
    Ok((whole, parts.len() as u64))
}

/// The entries that would be changed.
struct Survey {
    matched: u64,
    first: Vec<Entry>,
    causes: Causes,
    /// How many pass the filters, and are left as they are because others would be changed with them.
    parts: u64,
}

/// How many entries are in a state for one reason.
#[derive(Default)]
struct Causes(BTreeMap<(State, String), u64>);

impl Causes {
    fn add(&mut self, entry: &Entry) {
        let group = entry.cause.as_deref().map(cause_group).unwrap_or_default();
        *self.0.entry((entry.state, group)).or_default() += 1;
    }

    fn write(&self, output: &Output) -> Result<(), Failure> {
        let mut table = Table::new(["COUNT", "STATE", "CAUSE"]).fitted();
        for ((state, group), count) in &self.0 {
            table.row([
                (Tone::Head, format!("{count:>5}")),
                (Tone::of(*state), state.to_string()),
                (Tone::Plain, escape::line(group)),
            ]);
        }
        table.write(output)
    }
}

/// Counts the entries, and returns the first of them. A dry run for machines prints all.
async fn survey(
    change: &Change,
    selection: &Selection,
    inbox: &Inbox,
    arguments: &ChangeArguments,
    output: &Output,
) -> Result<Survey, Failure> {
    let (mut matched, mut first, mut parts) = (0, Vec::new(), 0);
    let mut causes = Causes::default();
    selection
        .pages(inbox, async |page| {
            let (page, of_jobs) = whole(change, selection, inbox, page).await?;
            parts += of_jobs;
            matched += page.len() as u64;
            page.iter().for_each(|entry| causes.add(entry));
            if arguments.is_dry_run() && output.is_json() {
                page.iter().try_for_each(|entry| output.json("entry", &view::json(entry)))?;
            }
            if !output.is_json() {
                output.progress(&format!("selected {}", entries(matched)));
            }
            first.extend(page.into_iter().take(SHOWN - first.len().min(SHOWN)));
            Ok::<_, Failure>(())
        })
        .await?;
    output.progress("");
    Ok(Survey { matched, first, causes, parts })
}

fn show(first: &[Entry], matched: u64, output: &Output) -> Result<(), Failure> {
    view::table(first).write(output)?;
    if matched > first.len() as u64 {
        output.line(&format!("… and {} more", matched - first.len() as u64))?;
    }
    Ok(())
}
