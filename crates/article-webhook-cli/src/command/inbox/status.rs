//! What an operator needs to know of an inbox: first what ended badly, then whether it works, then what it has.

use std::collections::BTreeMap;

use article_webhook_inbox::{JobState, State};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    store::{Access, Health, InboxWord, Place},
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
Ends with 1 if entries are dead, unhandled, quarantined or corrupt, if an entry has been due for a minute, \
if a job is overdue, if the service refused the API key, if deliveries cannot be stored, if the next start would be refused, or if \
damage was found.";

/// The states that nothing but a person, or a good copy, ends well.
const BAD: [State; 4] = [State::Dead, State::Unhandled, State::Quarantined, State::Corrupt];

pub(super) async fn run(
    arguments: StatusArguments,
    access: Access,
    context: &Context,
) -> Result<Exit, Failure> {
    let (place, output) = (arguments.inbox.place(&context.environment)?, &context.output);
    let inbox = access.open(&place).await?;
    let checked = match arguments.full {
        true => Some(output.during("looking for damage", inbox.check()).await?),
        false => None,
    };
    let health = Health::of(&inbox, access, checked).await?;
    if output.is_json() {
        output.json("status", &fields(&health))?;
    } else {
        show(&health, &place, output)?;
    }
    Ok(if health.is_well() { Exit::Done } else { Exit::Failed })
}

fn fields(health: &Health) -> Value {
    let Health { counts, ledger, works, .. } = health;
    let store = &works.store;
    let entries = State::ALL.iter().map(|&state| (state.as_str(), counts.of(state)));
    let jobs = JobState::ALL.iter().map(|&state| (state.as_str(), ledger.counts.of(state)));
    let bad = health.facts.iter().filter(|fact| fact.tone == Tone::Bad);
    json!({
        "well": health.is_well(),
        "because": bad.map(|fact| format!("{}: {}", fact.name(), fact.text)).collect::<Vec<_>>(),
        "entries": entries.collect::<BTreeMap<_, _>>(),
        "total": counts.total(),
        "jobs": jobs.collect::<BTreeMap<_, _>>(),
        "overdue_jobs": ledger.counts.overdue,
        "unknown_orders": ledger.counts.unknown_intents,
        "ledger_gaps_since": ledger.counts.gaps_since.map(moment::exact),
        "polls_paused_until": ledger.paused.map(|pause| moment::exact(pause.until)),
        "polls_paused_because": ledger.paused.map(|pause| pause.why.as_str()),
        "writable": works.writable.as_ref().map(Result::is_ok),
        "why_not": works.writable.as_ref().and_then(|it| it.as_ref().err()).map(ToString::to_string),
        "due_since_seconds": works.due_for.map(|due_for| due_for.as_secs()),
        "paused_since": works.paused_since.as_ref().map(|since| moment::exact(since.at)),
        "paused_by": works.paused_since.as_ref().and_then(|since| since.by.as_deref()),
        "wal_bytes": store.wal_bytes,
        "blocked": store.blocked.as_ref().map(ToString::to_string),
        "next_start": store.next_start.as_ref().map(ToString::to_string),
        "findings": store.findings,
        "warnings": store.warnings,
        "damage": health.checked.as_ref().map(|[damage, _]| damage),
        "settings": health.checked.as_ref().map(|[_, settings]| settings),
    })
}

fn show(health: &Health, place: &Place, output: &Output) -> Result<(), Failure> {
    let bad = BAD.map(|state| (state, health.counts.of(state)));
    let bad: Vec<_> = bad.into_iter().filter(|(_, count)| *count > 0).collect();
    let counted: Vec<_> = bad.iter().map(|(state, count)| format!("{count} {state}")).collect();
    output.line(&match bad.first() {
        None => output.paint(Tone::Good, "nothing is dead, unhandled, quarantined or corrupt"),
        Some((first, _)) => format!(
            "{}: {}",
            output.paint(Tone::Bad, &counted.join(", ")),
            escape::line(&command::list_in(place.shown(), first.as_str()))
        ),
    })?;
    output.line("")?;
    let mut facts = Table::plain();
    for fact in &health.facts {
        let fix = fact.fix.map(|fix| format!(": {fix}")).unwrap_or_default();
        facts.named(&fact.name(), fact.tone, escape::line(&fact.text) + &fix);
    }
    if place.is_file() {
        let log =
            format!("{} KiB beside the database", health.works.store.wal_bytes.div_ceil(1024));
        facts.named("WAL", Tone::Plain, log);
    }
    facts.write(output)?;
    output.line("")?;
    let counts = &health.counts;
    let states = State::ALL.iter().map(|&it| (Tone::of(it), it.as_str(), counts.of(it)));
    table("ENTRIES", states.chain([(Tone::Head, "total", counts.total())])).write(output)?;
    let counts = &health.ledger.counts;
    if counts.total() > 0 {
        output.line("")?;
        let states = JobState::ALL.iter();
        let states = states.map(|&it| (Tone::of_job(it), it.as_str(), counts.of(it)));
        table("JOBS", states.filter(|(.., count)| *count > 0)).write(output)?;
    }
    Ok(())
}

fn table(head: &str, rows: impl Iterator<Item = (Tone, &'static str, u64)>) -> Table {
    let mut table = Table::new([head, ""]);
    for (tone, name, count) in rows {
        let tone = if count == 0 { Tone::Quiet } else { tone };
        table.row([(tone, name.replace('_', " ")), (Tone::Plain, format!("{count:>9}"))]);
    }
    table
}
