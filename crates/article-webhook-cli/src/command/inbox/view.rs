//! An entry as a row of a table, and as JSON.

use std::time::SystemTime;

use article_webhook_inbox::{Entry, State};
use serde_json::{Value, json};

use crate::{
    output::{Table, Tone},
    text::escape,
    text::moment::{exact, relative},
};

/// The job, and the event if it is not the usual one.
pub(super) fn name(entry: &Entry) -> String {
    match entry.key.is_article() {
        true => escape::line(entry.key.job_id.as_str()),
        false => escape::line(&entry.key.to_string()),
    }
}

/// The state, and which node has the entry.
fn state(entry: &Entry) -> String {
    match &entry.node {
        Some(node) if entry.state == State::Leased => format!("leased by {}", escape::line(node)),
        _ => entry.state.to_string(),
    }
}

/// What the time of the entry means in its state.
pub(super) fn when(entry: &Entry, now: SystemTime) -> String {
    let time = relative(entry.at, now);
    match entry.state {
        State::Waiting => format!("due {time}"),
        State::Leased if entry.at > now => format!("lease ends {time}"),
        State::Leased => format!("lease ended {time}"),
        _ => format!("since {}", time.trim_end_matches(" ago")),
    }
}

pub(super) fn table(entries: &[Entry]) -> Table {
    let now = SystemTime::now();
    let heads = ["JOB", "STATE", "TRIES", "RECEIVED", "TIME", "TARGET", "TITLE", "CAUSE"];
    let mut table = Table::new(heads).fitted();
    for entry in entries {
        let plain = |text| (Tone::Plain, text);
        table.row([
            plain(name(entry)),
            (Tone::of(entry.state), state(entry)),
            plain(entry.attempts.to_string()),
            plain(relative(entry.received_at, now)),
            plain(when(entry, now)),
            plain(escape::line(&entry.target)),
            plain(title(entry)),
            plain(escape::line(entry.cause.as_deref().unwrap_or_default())),
        ]);
    }
    table
}

fn title(entry: &Entry) -> String {
    escape::line(entry.title.as_deref().unwrap_or_default())
}

pub(super) fn json(entry: &Entry) -> Value {
    let at_in = |state| (entry.state == state).then(|| exact(entry.at));
    json!({
        "id": entry.id,
        "job_id": entry.key.job_id.as_str(),
        "event": entry.key.event.as_str(),
        "title": entry.title,
        "state": entry.state.as_str(),
        "attempts": entry.attempts,
        "source": entry.source.as_str(),
        "bytes": entry.length,
        "target": entry.target,
        "received_at": exact(entry.received_at),
        "due_at": at_in(State::Waiting),
        "lease_ends_at": at_in(State::Leased),
        "since": exact(entry.since),
        "conflicts": entry.conflicts,
        "node": entry.node,
        "cause": entry.cause,
        "requeued_at": entry.requeued_at.map(exact),
    })
}
