use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{Entry, Filter, Inbox, ListOrder, State, stop_signal};
use clap::Args;
use tokio::time::{MissedTickBehavior, interval};

use super::{
    selection::{ChoiceArguments, Kind, PagingArguments, what_there_is},
    view,
};
use crate::{
    context::Context,
    failure::{Exit, Failure},
    output::Output,
    store::InboxWord,
};

/// How often `--follow` looks.
const TICK: Duration = Duration::from_secs(1);

/// How many entries it looks at, the newest.
const FOLLOWED: u32 = 500;

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    #[command(flatten)]
    inbox: InboxWord,
    #[command(flatten)]
    extent: PagingArguments,
    /// List the newest first
    #[arg(long)]
    newest: bool,
    /// Print entries that are new or change, of the newest 500, until Ctrl-C
    #[arg(long, conflicts_with_all = ["limit", "after", "all", "newest"])]
    follow: bool,
    #[command(flatten)]
    choice: ChoiceArguments,
}

impl ListArguments {
    pub(super) fn follows(&self) -> bool {
        self.follow
    }
}

pub(super) async fn run(arguments: ListArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let filter = arguments.choice.filter();
    if arguments.follow {
        return tokio::select! {
            () = stop_signal() => Ok(Exit::Done),
            failed = follow(&inbox, filter, &context.output) => failed,
        };
    }
    let order = if arguments.newest { ListOrder::NewestFirst } else { ListOrder::OldestFirst };
    let read = async |after, limit| {
        let page = inbox.list(Filter { after, limit, order, ..filter.clone() }).await?;
        Ok((page.items, page.next))
    };
    let kind = Kind { name: "entry", json: view::json, table: view::table };
    if !arguments.extent.show(&kind, &context.output, read).await? {
        let what = "no entry matches";
        if arguments.choice.names_a_job() {
            return Err(Failure::nothing_matched(what).fix(what_there_is(&place)));
        }
        context.output.note(what);
    }
    Ok(Exit::Done)
}

/// What a change of an entry is printed for. A lease that is extended is none.
fn seen(entry: &Entry) -> (State, SystemTime, u32, Option<&str>, u32) {
    (entry.state, entry.since, entry.attempts, entry.cause.as_deref(), entry.conflicts)
}

/// Prints what is new or has changed since it was printed. What it finds first is not printed.
async fn follow(inbox: &Inbox, filter: Filter, output: &Output) -> Result<Exit, Failure> {
    let filter = Filter { order: ListOrder::NewestFirst, limit: FOLLOWED, ..filter };
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut printed: Option<HashMap<i64, Entry>> = None;
    let mut looked_at = inbox.ledger().now();
    loop {
        ticks.tick().await;
        let looking_at = inbox.ledger().now();
        let now = inbox.list(filter.clone()).await?.items;
        if let Some(printed) = &printed {
            // Older ones enter what is looked at as others leave it.
            let newest = printed.keys().max().copied().unwrap_or_default();
            let changed = now.iter().rev().filter(|entry| match printed.get(&entry.id) {
                Some(before) => seen(before) != seen(entry),
                None => entry.id > newest || entry.since >= looked_at,
            });
            for entry in changed {
                match output.is_json() {
                    true => output.json("entry", &view::json(entry))?,
                    false => output.line(&view::line(entry, output))?,
                }
            }
        } else {
            output.note("Entries are printed that are new or change. Ctrl-C ends it.");
        }
        looked_at = looking_at;
        printed = Some(now.into_iter().map(|entry| (entry.id, entry)).collect());
    }
}
