use std::time::{Duration, SystemTime};

use article_webhook_inbox::{Filter, State, store::StoreHealth};
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Table, Tone},
    store::InboxArgument,
    text::escape,
    text::moment,
};

/// Commits a small change, to see whether the store can.
pub(super) async fn run(inbox: &InboxArgument, context: &Context) -> Result<Exit, Failure> {
    let place = inbox.place(&context.environment)?;
    let health = place.shared().await?.health().await;
    let overdue = health.overdue.map_err(unknown)?;
    let unhandled = health.unhandled.map_err(unknown)?;
    let quarantined = health.quarantined.map_err(unknown)?;
    let paused_since = health.paused_since.map_err(unknown)?;
    let store = health.store.map_err(unknown)?;
    let (writable, has_log) = (Some(health.writable), place.is_file());
    let seen = Seen { writable, overdue, unhandled, quarantined, paused_since, store, has_log };
    show(&seen, context)
}

/// Only looks.
pub(super) async fn look(inbox: &InboxArgument, context: &Context) -> Result<Exit, Failure> {
    let place = inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let ledger = inbox.ledger();
    let in_state =
        |state| inbox.list(Filter { state: Some(state), limit: 100, ..Filter::default() });
    let unhandled = in_state(State::Unhandled).await?.entries.len();
    let quarantined = in_state(State::Quarantined).await?.entries.len();
    let age = |since| ledger.now().duration_since(since).unwrap_or_default();
    let overdue = ledger.due_since().await?.map(age);
    let paused_since = ledger.paused_since().await?;
    let (store, has_log) = (ledger.health().await?, place.is_file());
    let writable = None;
    let seen = Seen { writable, overdue, unhandled, quarantined, paused_since, store, has_log };
    show(&seen, context)
}

fn unknown(why: String) -> Failure {
    article_webhook_inbox::Error::unavailable(why).into()
}

struct Seen {
    /// `None`: not tried.
    writable: Option<Result<(), String>>,
    overdue: Option<Duration>,
    unhandled: usize,
    quarantined: usize,
    paused_since: Option<SystemTime>,
    store: StoreHealth,
    /// A file has one beside it. It may be empty.
    has_log: bool,
}

fn show(seen: &Seen, context: &Context) -> Result<Exit, Failure> {
    let Seen { writable, overdue, unhandled, quarantined, paused_since, store, has_log } = seen;
    let why_not = writable.as_ref().and_then(|writable| writable.as_ref().err());
    let is_well = why_not.is_none() && store.blocked.is_none();
    let is_well = is_well && store.next_start.is_none() && store.findings.is_empty();
    let exit = if is_well { Exit::Done } else { Exit::Failed };
    if context.output.is_json() {
        context.output.json(&json!({
            "writable": writable.as_ref().map(Result::is_ok),
            "why_not": why_not,
            "due_since_seconds": overdue.map(|overdue| overdue.as_secs()),
            "unhandled": unhandled,
            "quarantined": quarantined,
            "paused_since": paused_since.map(moment::exact),
            "wal_bytes": store.wal_bytes,
            "blocked": store.blocked,
            "next_start": store.next_start,
            "findings": store.findings,
        }))?;
        return Ok(exit);
    }
    let mut table = Table::plain();
    let mut row =
        |name: &str, tone, text: String| table.row([(Tone::Quiet, name.to_owned()), (tone, text)]);
    let at_most_100 =
        |count: usize| if count < 100 { count.to_string() } else { "100 or more".to_owned() };
    match writable {
        Some(Ok(())) if *quarantined > 0 => {
            let count = at_most_100(*quarantined);
            row("writable", Tone::Good, format!("yes, and {count} in quarantine"));
        }
        Some(Ok(())) => row("writable", Tone::Good, "yes".to_owned()),
        Some(Err(why)) => row("writable", Tone::Bad, escape::line(why)),
        None => row("writable", Tone::Quiet, "not tried, because of --read-only".to_owned()),
    }
    if let Some(since) = paused_since {
        let since = moment::shown(*since);
        row("paused", Tone::Busy, format!("since {since}: `inbox resume` ends that"));
    }
    match overdue {
        None => row("oldest due", Tone::Good, "nothing waits for a worker".to_owned()),
        Some(age) if *age < Duration::from_secs(60) || paused_since.is_some() => {
            row("oldest due", Tone::Busy, format!("for {}", moment::span(*age)));
        }
        Some(age) => {
            let waits = format!("for {}: does a worker run?", moment::span(*age));
            row("oldest due", Tone::Bad, waits);
        }
    }
    if *unhandled > 0 {
        let count = at_most_100(*unhandled);
        let look = "`inbox list --state unhandled` says why";
        row("unhandled", Tone::Bad, format!("{count} that no worker can read: {look}"));
    }
    if *quarantined > 0 {
        let count = at_most_100(*quarantined);
        let look = "`inbox list --state quarantined` says why";
        row(
            "quarantined",
            Tone::Bad,
            format!("{count} refused deliveries, which may be the only copies: {look}"),
        );
    }
    if *has_log {
        let log = format!("{} KiB beside the database", store.wal_bytes.div_ceil(1024));
        row("WAL", Tone::Plain, log);
    }
    if let Some(blocked) = &store.blocked {
        row("blocked", Tone::Bad, escape::line(blocked));
    }
    if let Some(next_start) = &store.next_start {
        row("next start", Tone::Bad, format!("refused: {}", escape::line(next_start)));
    }
    for finding in &store.findings {
        row("found", Tone::Bad, escape::line(finding));
    }
    table.write(&context.output)?;
    Ok(exit)
}
