//! What would be changed, before it is.

use std::collections::{BTreeMap, HashSet};

use article_webhook_inbox::{Entry, Error, Inbox, State, cause_group};

use super::{super::view, Change, ChangeArguments, Selection};
use crate::{
    failure::Failure,
    output::{Output, Table, Tone},
    text::{escape, number::entries},
};

/// How many of the entries a dry run and a question show to people.
const SHOWN: usize = 20;

/// The entries of a page that can be changed without others, and how many cannot: a job is erased with all its entries.
pub(super) async fn whole(
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
pub(super) struct Survey {
    pub(super) matched: u64,
    pub(super) first: Vec<Entry>,
    pub(super) causes: Causes,
    /// How many pass the filters, and are left as they are because others would be changed with them.
    pub(super) parts: u64,
}

/// How many entries are in a state for one reason.
#[derive(Default)]
pub(super) struct Causes(BTreeMap<(State, String), u64>);

impl Causes {
    fn add(&mut self, entry: &Entry) {
        let group = entry.cause.as_deref().map(cause_group).unwrap_or_default();
        *self.0.entry((entry.state, group)).or_default() += 1;
    }

    pub(super) fn write(&self, output: &Output) -> Result<(), Failure> {
        let mut table = Table::new(["COUNT", "STATE", "CAUSE"]).fitted();
        for ((state, group), count) in &self.0 {
            table.row([
                (Tone::Head, format!("{count:>5}")),
                (view::tone(*state), state.to_string()),
                (Tone::Plain, escape::line(group)),
            ]);
        }
        table.write(output)
    }
}

/// Counts the entries, and returns the first of them. A dry run for machines prints all.
pub(super) async fn survey(
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

pub(super) fn show(first: &[Entry], matched: u64, output: &Output) -> Result<(), Failure> {
    view::table(first).write(output)?;
    if matched > first.len() as u64 {
        output.line(&format!("… and {} more", matched - first.len() as u64))?;
    }
    Ok(())
}
