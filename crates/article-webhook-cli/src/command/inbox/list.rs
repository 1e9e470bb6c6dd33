use article_webhook_inbox::{Filter, ListOrder};
use clap::Args;

use super::{
    selection::{ChoiceArguments, Kind, PagingArguments, what_there_is},
    view,
};
use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::InboxWord,
};

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    #[command(flatten)]
    inbox: InboxWord,
    #[command(flatten)]
    extent: PagingArguments,
    /// List the newest first
    #[arg(long)]
    newest: bool,
    #[command(flatten)]
    choice: ChoiceArguments,
}

pub(super) async fn run(arguments: ListArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let filter = arguments.choice.filter();
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
