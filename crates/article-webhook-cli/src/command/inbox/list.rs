use article_webhook_inbox::Filter;
use clap::Args;

use super::{
    paging::{Kind, PagingArguments},
    selection::ChoiceArguments,
    view,
};
use crate::{context::Context, exit::Exit, failure::Failure, store::InboxArgument};

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// The inbox: a file, a PostgreSQL URL, or env:NAME for a variable with one of them
    #[arg(value_name = "INBOX")]
    inbox: InboxArgument,
    #[command(flatten)]
    extent: PagingArguments,
    #[command(flatten)]
    choice: ChoiceArguments,
}

pub(super) async fn run(arguments: ListArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let filter = arguments.choice.filter();
    let read = async |after, limit| {
        let page = inbox.list(Filter { after, limit, ..filter.clone() }).await?;
        Ok((page.entries, page.next))
    };
    let kind = Kind { name: "entry", json: view::json, table: view::table };
    arguments.extent.show(&kind, &place, &context.output, read).await
}
