//! What an operator needs to know of an inbox: first what ended badly, then whether it works, then what it has.

use std::{collections::BTreeMap, time::Duration};

use article_webhook_inbox::{
    Counts, Error, JobState, LedgerCounts, Since, State, UNCLAIMED_AFTER, store::StoreHealth,
};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    store::{Access, InboxWord, Place},
    text::{command, escape, moment},
};

#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    #[command(flatten)]
    inbox: InboxWord,
    /// Look for damage in everything that is stored, and for settings that may lose acknowledged deliveries
    #[arg(long)]
    full: bool,
}

pub(super) const HELP: &str = "\
Ends with 1 if entries are dead, unhandled, quarantined or corrupt, if an entry has been due for a minute and no worker took \
it, if deliveries cannot be stored, or if damage was found.";

/// The states that nothing but a person, or a good copy, ends well.
const BAD: [State; 4] = [State::Dead, State::Unhandled, State::Quarantined, State::Corrupt];

struct Status {
    counts: Counts,
    jobs: LedgerCounts,
    /// `None`: not tried, because nothing may be changed.
    writable: Option<Result<(), Error>>,
    due_for: Option<Duration>,
    paused_since: Option<Since>,
    store: StoreHealth,
    /// A file has one beside it. It may be empty.
    has_log: bool,
    /// What reading everything has found, as damage and as settings. `None`: it was not read.
    checked: Option<[Vec<String>; 2]>,
}

pub(super) async fn run(
    arguments: StatusArguments,
    access: Access,
    context: &Context,
) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let status = look(&arguments, &place, access, &context.output).await?;
    let exit = if status.is_well() { Exit::Done } else { Exit::Failed };
    if context.output.is_json() {
        context.output.json("status", &status.json())?;
    } else {
        status.show(place.shown(), &context.output)?;
    }
    Ok(exit)
}

async fn look(
    arguments: &StatusArguments,
    place: &Place,
    access: Access,
    output: &Output,
) -> Result<Status, Failure> {
    let inbox = access.open(place).await?;
    let ledger = inbox.ledger();
    let writable = match access {
        Access::ReadOnly => None,
        Access::Full => Some(inbox.ready().await),
    };
    let mut checked = None;
    if arguments.full {
        let found = output.during("looking for damage", inbox.check()).await?;
        let (damage, settings): (Vec<_>, Vec<_>) = found.iter().partition(|it| it.is_damage());
        checked =
            Some([damage, settings].map(|found| found.iter().map(ToString::to_string).collect()));
    }
    Ok(Status {
        counts: inbox.counts().await?,
        jobs: ledger.ledger_counts().await?,
        writable,
        due_for: inbox.due_for().await?,
        paused_since: ledger.paused_since().await?,
        store: ledger.health().await?,
        has_log: place.is_file(),
        checked,
    })
}

impl Status {
    fn is_well(&self) -> bool {
        let store = &self.store;
        self.bad().is_empty()
            && self.due_for.is_none_or(|due_for| due_for < UNCLAIMED_AFTER)
            && !matches!(self.writable, Some(Err(_)))
            && store.blocked.is_none()
            && store.next_start.is_none()
            && store.findings.is_empty()
            && self.checked.as_ref().is_none_or(|[damage, _]| damage.is_empty())
    }

    /// How many entries are in each of the bad states, without those that have none.
    fn bad(&self) -> Vec<(State, u64)> {
        let counted = BAD.map(|state| (state, self.counts.of(state)));
        counted.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn json(&self) -> Value {
        let entries = State::ALL.iter().map(|&state| (state.as_str(), self.counts.of(state)));
        let jobs = JobState::ALL.iter().map(|&state| (state.as_str(), self.jobs.of(state)));
        json!({
            "well": self.is_well(),
            "entries": entries.collect::<BTreeMap<_, _>>(),
            "total": self.counts.total(),
            "jobs": jobs.collect::<BTreeMap<_, _>>(),
            "overdue_jobs": self.jobs.overdue,
            "unknown_orders": self.jobs.unknown_intents,
            "writable": self.writable.as_ref().map(Result::is_ok),
            "why_not": self.writable.as_ref().and_then(|it| it.as_ref().err()).map(ToString::to_string),
            "due_since_seconds": self.due_for.map(|due_for| due_for.as_secs()),
            "paused_since": self.paused_since.as_ref().map(|since| moment::exact(since.at)),
            "paused_by": self.paused_since.as_ref().and_then(|since| since.by.as_deref()),
            "wal_bytes": self.store.wal_bytes,
            "blocked": self.store.blocked.as_ref().map(ToString::to_string),
            "next_start": self.store.next_start.as_ref().map(ToString::to_string),
            "findings": self.store.findings,
            "warnings": self.store.warnings,
            "damage": self.checked.as_ref().map(|[damage, _]| damage),
            "settings": self.checked.as_ref().map(|[_, settings]| settings),
        })
    }

    /// `inbox` as the command line names it.
    fn show(&self, inbox: &str, output: &Output) -> Result<(), Failure> {
        let bad = self.bad();
        let counted: Vec<_> = bad.iter().map(|(state, count)| format!("{count} {state}")).collect();
        match bad.first() {
            None => output.line(
                &output.paint(Tone::Good, "nothing is dead, unhandled, quarantined or corrupt"),
            )?,
            Some((first, _)) => output.line(&format!(
                "{}: {}",
                output.paint(Tone::Bad, &counted.join(", ")),
                escape::line(&command::list_in(inbox, first.as_str()))
            ))?,
        }
        output.line("")?;
        self.works().write(output)?;
        output.line("")?;
        self.entries().write(output)?;
        if self.jobs.total() + self.jobs.unknown_intents > 0 {
            output.line("")?;
            self.jobs().write(output)?;
        }
        Ok(())
    }

    /// Whether deliveries are stored and workers keep up.
    fn works(&self) -> Table {
        let mut table = Table::plain();
        match &self.writable {
            Some(Ok(())) => table.named("writable", Tone::Good, "yes"),
            Some(Err(why)) => table.named("writable", Tone::Bad, escape::line(&why.to_string())),
            None => table.named("writable", Tone::Quiet, "not tried, because of --read-only"),
        }
        if let Some(since) = &self.paused_since {
            let since = escape::line(&moment::since(since));
            table.named("paused", Tone::Busy, format!("since {since}: `inbox resume` ends that"));
        }
        match self.due_for {
            None => table.named("oldest due", Tone::Good, "nothing waits for a worker"),
            Some(age) if age < UNCLAIMED_AFTER => {
                table.named("oldest due", Tone::Busy, "for less than a minute");
            }
            Some(age) if self.paused_since.is_some() => {
                table.named("oldest due", Tone::Busy, format!("for {}", moment::span(age)));
            }
            Some(age) => {
                let waits = format!("for {}: does a worker run?", moment::span(age));
                table.named("oldest due", Tone::Bad, waits);
            }
        }
        if self.has_log {
            let log = format!("{} KiB beside the database", self.store.wal_bytes.div_ceil(1024));
            table.named("WAL", Tone::Plain, log);
        }
        if let Some(blocked) = &self.store.blocked {
            table.named("blocked", Tone::Bad, escape::line(&blocked.to_string()));
        }
        if let Some(next_start) = &self.store.next_start {
            table.named(
                "next start",
                Tone::Bad,
                format!("refused: {}", escape::line(&next_start.to_string())),
            );
        }
        for finding in &self.store.findings {
            table.named("found", Tone::Bad, escape::line(finding));
        }
        for warning in &self.store.warnings {
            table.named("warning", Tone::Busy, escape::line(warning));
        }
        let Some([damage, settings]) = &self.checked else { return table };
        if damage.is_empty() {
            table.named("sound", Tone::Good, "no damage found");
        }
        damage.iter().for_each(|found| table.named("damage", Tone::Bad, escape::line(found)));
        let shown = [&self.store.findings, &self.store.warnings];
        let more =
            settings.iter().filter(|setting| !shown.iter().any(|shown| shown.contains(setting)));
        more.for_each(|found| table.named("setting", Tone::Busy, escape::line(found)));
        table
    }

    fn entries(&self) -> Table {
        let states = State::ALL
            .iter()
            .map(|&state| (Tone::of(state), state.as_str(), self.counts.of(state)));
        table("ENTRIES", states.chain([(Tone::Head, "total", self.counts.total())]))
    }

    fn jobs(&self) -> Table {
        let states = JobState::ALL
            .iter()
            .map(|&state| (Tone::of_job(state), state.as_str(), self.jobs.of(state)));
        let more = [
            (Tone::Bad, "overdue", self.jobs.overdue),
            (Tone::Bad, "unknown order", self.jobs.unknown_intents),
        ];
        table("JOBS", states.chain(more).filter(|(.., count)| *count > 0))
    }
}

fn table(head: &str, rows: impl Iterator<Item = (Tone, &'static str, u64)>) -> Table {
    let mut table = Table::new([head, ""]);
    for (tone, name, count) in rows {
        let tone = if count == 0 { Tone::Quiet } else { tone };
        table.row([(tone, name.replace('_', " ")), (Tone::Plain, format!("{count:>9}"))]);
    }
    table
}
