use std::time::SystemTime;

use article_webhook_inbox::CauseCount;
use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure},
    output::{Table, Tone},
    store::InboxWord,
    text::{
        command, escape,
        moment::{exact, relative},
    },
};

#[derive(Debug, Args)]
pub(super) struct CausesArguments {
    #[command(flatten)]
    inbox: InboxWord,
}

pub(super) const HELP: &str = "\
Causes that differ only in numbers, ids and addresses are one group: `#` stands for each of these. --cause of other commands selects \
a group.";

pub(super) async fn run(arguments: CausesArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let groups = place.read().await?.causes().await?;
    let (inbox, output, now) = (place.shown(), &context.output, SystemTime::now());
    let mut table = Table::new(["COUNT", "STATE", "FIRST", "LAST", "CAUSE"]);
    for group in &groups {
        if output.is_json() {
            let value = json!({
                "state": group.state.as_str(),
                "cause": group.cause,
                "count": group.count,
                "first_at": exact(group.first),
                "last_at": exact(group.last),
                "requeue": requeue(inbox, group),
            });
            output.json("cause", &value)?;
            continue;
        }
        let plain = |text| (Tone::Plain, text);
        table.row([
            (Tone::Head, format!("{:>5}", group.count)),
            (Tone::of(group.state), group.state.to_string()),
            plain(relative(group.first, now)),
            plain(relative(group.last, now)),
            plain(escape::line(group.cause.as_deref().unwrap_or_default())),
        ]);
    }
    if groups.is_empty() {
        output.note("nothing is dead, unhandled, quarantined or corrupt");
    } else if !output.is_json() {
        table.write(output)?;
        output.line("\nTo requeue a group:")?;
        let mut commands = groups.iter().filter_map(|group| requeue(inbox, group));
        commands.try_for_each(|command| output.line(&command))?;
    }
    Ok(Exit::Done)
}

/// `None`: no filter distinguishes entries without a cause from the others of their state.
fn requeue(inbox: &str, group: &CauseCount) -> Option<String> {
    Some(command::requeue_group(inbox, group.state.as_str(), group.cause.as_deref()?))
}
