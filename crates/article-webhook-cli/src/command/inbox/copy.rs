use clap::Args;
use serde_json::json;

use super::{
    salvage::gaps,
    transfer::{already, opened},
};
use crate::{
    context::Context,
    exit::Exit,
    failure::Failure,
    store::InboxArgument,
    text::{command::quoted, moment::exact, number::entries},
};

pub(super) const HELP: &str = "\
A receiver may work on TO meanwhile, and none on FROM. What is done in FROM is done in TO as well, and what is dead there brings no \
delivery of TO to a handler. After `salvage --begin`, a complete copy ends the pause. A copy that was interrupted can be made again.";

#[derive(Debug, Args)]
pub(super) struct CopyArguments {
    /// The inbox that is read: a file, a PostgreSQL URL, or env:NAME for a variable with one of them
    #[arg(value_name = "FROM")]
    from: InboxArgument,
    /// The inbox that gets what the other one has
    #[arg(value_name = "TO")]
    to: InboxArgument,
}

pub(super) async fn run(arguments: CopyArguments, context: &Context) -> Result<Exit, Failure> {
    let from = arguments.from.place(&context.environment)?;
    let place = arguments.to.place(&context.environment)?;
    if from.is_worked_on() {
        return Err(Failure::usage(format!("a receiver works on {}", from.shown()))
            .fix("stop it before: what it stores meanwhile might not be copied"));
    }
    let from = from.read().await?;
    let to = opened(&place).await?;
    let was_paused = to.ledger().paused_since().await?.is_some();
    let copied = context.output.during("copying", to.copy_from(&from)).await;
    let paused_since = to.ledger().paused_since().await;
    let gaps_since = to.ledger().ledger_counts().await.map(|counts| counts.gaps_since);
    // Closed also after an error, so that no log stays beside the files.
    let closed = (from.close().await, to.close().await);
    let (copied, paused_since, gaps_since) = (copied?, paused_since?, gaps_since?);
    closed.0.and(closed.1)?;
    if context.output.is_json() {
        context.output.json(
            "copy",
            &json!({
                "added": copied.added,
                "present": copied.present,
                "paused_since": paused_since.map(|since| exact(since.at)),
                "ledger_has_gaps": gaps_since.is_some(),
            }),
        )?;
        return Ok(Exit::Done);
    }
    let (added, present) = (entries(copied.added), already(copied.present));
    context.output.line(&format!("added {added}; {present}"))?;
    match paused_since.map(|since| exact(since.at)) {
        Some(since) => {
            context.output.line(&format!("paused since {since}: `inbox resume` ends that"))?;
        }
        None if was_paused => context.output.line("not paused: workers get entries again")?,
        None => {}
    }
    if gaps_since.is_some() {
        context.output.line(&gaps(&quoted(place.shown())))?;
    }
    Ok(Exit::Done)
}
