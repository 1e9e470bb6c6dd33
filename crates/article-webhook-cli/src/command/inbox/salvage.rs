use std::{path::PathBuf, sync::Arc};

use article_webhook_inbox::{Salvaged, SqliteStore, store::Progress};
use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::{InboxWord, blocking},
    text::{command::quoted, counted, entries, escape},
};

pub(super) const HELP: &str = "\
Stop the receiver first. The damaged file and the files next to it are only read. Start the receiver with the new file, or move \
the new file and its -lock to the place of the old ones. The exit code is 1 if anything was lost or needs a check.

To receive again at once, `salvage --begin NEW` creates an empty inbox. Its workers are paused, and an order whose intent is not found there \
is not placed. Start the receiver with it, salvage the damaged file into a third one, and copy that into NEW.";

#[derive(Debug, Args)]
pub(super) struct SalvageArguments {
    /// The damaged file
    #[arg(value_name = "DAMAGED", required_unless_present = "begin")]
    damaged: Option<PathBuf>,
    /// The file to create
    #[arg(value_name = "NEW", required_unless_present = "begin")]
    new: Option<PathBuf>,
    /// Create an empty inbox with which the receiver can continue at once, before the damaged file is salvaged
    #[arg(long, value_name = "NEW", conflicts_with = "damaged")]
    begin: Option<PathBuf>,
}

pub(super) async fn run(arguments: SalvageArguments, context: &Context) -> Result<Exit, Failure> {
    let (Some(damaged), Some(new)) = (arguments.damaged, arguments.new) else {
        return begin(arguments.begin.unwrap_or_default(), context).await;
    };
    let shown = escape::line(&new.display().to_string());
    let progress = Arc::new(Progress::default());
    let seen = Arc::clone(&progress);
    let work = blocking(move || SqliteStore::salvage_with(damaged, new, &progress));
    let salvaged = context.output.during_known("salvaging", &seen, work).await??;
    let exit = if salvaged.is_whole() { Exit::Done } else { Exit::Failed };
    if context.output.is_json() {
        let value = json!({
            "entries": salvaged.entries,
            "doubtful": salvaged.doubtful,
            "ledger": salvaged.ledger,
            "lost": salvaged.lost.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "may_lack_names": salvaged.may_lack_names,
            "lost_changes": salvaged.lost_changes,
            "ledger_has_gaps": salvaged.ledger_has_gaps,
        });
        context.output.json("salvage", &value)?;
        return Ok(exit);
    }
    for line in lines(&salvaged, &shown) {
        context.output.line(&line)?;
    }
    Ok(exit)
}

/// Makes the inbox into which a receiver goes on.
async fn begin(new: PathBuf, context: &Context) -> Result<Exit, Failure> {
    let shown = new.display().to_string();
    blocking(move || SqliteStore::begin_salvage(new)).await??;
    let new = quoted(&shown);
    let line = format!(
        "begun: start the receiver with {new}. Its workers are paused. Then: article-webhook inbox salvage DAMAGED SALVAGED, and \
         article-webhook inbox copy SALVAGED {new}, which ends the pause"
    );
    context.output.done("salvage_begun", &json!({ "begun": shown }), &line)
}

fn lines(salvaged: &Salvaged, new: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "kept {} and {}",
        entries(salvaged.entries),
        counted(salvaged.ledger, "row of the ledger", "rows of the ledger"),
    )];
    if salvaged.doubtful > 0 {
        lines.push(format!(
            "{} of them dead, because their newest state may be lost: look whether each was published, and requeue the others: \
             article-webhook inbox list {new} --state dead",
            salvaged.doubtful
        ));
    }
    match salvaged.lost_changes {
        Some(0) => {}
        Some(lost) => lines.push(format!(
            "the last {} cannot be read without doubt",
            counted(lost, "change", "changes")
        )),
        None => lines.push("it is not known whether the last changes can be read".to_owned()),
    }
    if !salvaged.lost.is_empty() {
        let lost = salvaged.lost.len() as u64;
        let jobs = counted(lost, "job has lost", "jobs have lost");
        lines.push(format!(
            "{jobs} an article or a part of it, which the ledger expects, of a dead entry once it is requeued: \
             article-webhook collect --inbox {new}"
        ));
        let ids = salvaged.lost.iter();
        lines.extend(ids.map(|job_id| format!("  {}", escape::line(job_id.as_str()))));
    }
    if salvaged.may_lack_names {
        lines.push("more may be lost that has no name: compare with a list of your own, and collect what is missing".to_owned());
    }
    if salvaged.ledger_has_gaps {
        lines.push(gaps(new));
    }
    lines
}

/// What a person does about a ledger with gaps.
pub(super) fn gaps(inbox: &str) -> String {
    format!(
        "orders may be missing in the ledger, and what is not found is not ordered: compare with the jobs of the service, and then: \
         article-webhook inbox orders-checked {inbox}"
    )
}

/// A person has checked the orders that a salvage may have lost.
pub(super) async fn orders_checked(inbox: &InboxWord, context: &Context) -> Result<Exit, Failure> {
    let inbox = inbox.place(&context.environment)?.shared().await?;
    let had_gaps = inbox.orders_checked().await?;
    let line = match had_gaps {
        true => "the ledger has no gaps any more: what is not found is ordered",
        false => "the ledger had no gaps",
    };
    context.output.done("orders_checked", &json!({ "had_gaps": had_gaps }), line)
}
