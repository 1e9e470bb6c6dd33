use article_webhook_inbox::{JobState, State};
use serde_json::{Map, Value, json};

use super::view;
use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Table, Tone},
    store::InboxArgument,
};

pub(super) async fn run(inbox: &InboxArgument, context: &Context) -> Result<Exit, Failure> {
    let inbox = inbox.place(&context.environment)?.read().await?;
    let (counts, ledger) = (inbox.counts().await?, inbox.ledger().ledger_counts().await?);
    if context.output.is_json() {
        let entries: Map<_, _> = State::ALL
            .map(|state| (state.to_string(), counts.of(state).into()))
            .into_iter()
            .collect();
        let jobs: Map<String, Value> = JobState::ALL
            .map(|state| (state.as_str().to_owned(), ledger.of(state).into()))
            .into_iter()
            .collect();
        context.output.json(&json!({
            "entries": entries,
            "total": counts.total(),
            "jobs": jobs,
            "overdue_jobs": ledger.overdue,
            "unknown_orders": ledger.unknown_intents,
        }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["ENTRIES", ""]);
    for state in State::ALL {
        let count = counts.of(state);
        let tone = if count == 0 { Tone::Quiet } else { view::tone(state) };
        table.row([(tone, state.to_string()), (Tone::Plain, format!("{count:>9}"))]);
    }
    table.row([(Tone::Plain, "total".to_owned()), (Tone::Head, format!("{:>9}", counts.total()))]);
    table.write(&context.output)?;
    if ledger.states.iter().sum::<u64>() + ledger.unknown_intents == 0 {
        return Ok(Exit::Done);
    }
    context.output.line("")?;
    let mut table = Table::new(["ORDERED JOBS", ""]);
    let mut row = |tone, name: &str, count: u64| {
        if count > 0 {
            table.row([(tone, name.to_owned()), (Tone::Plain, format!("{count:>4}"))]);
        }
    };
    for state in JobState::ALL {
        row(view::job_tone(state), &state.as_str().replace('_', " "), ledger.of(state));
    }
    row(Tone::Bad, "overdue", ledger.overdue);
    row(Tone::Bad, "unknown order", ledger.unknown_intents);
    table.write(&context.output)?;
    Ok(Exit::Done)
}
