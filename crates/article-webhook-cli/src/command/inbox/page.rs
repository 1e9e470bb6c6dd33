use article_webhook_inbox::stop_signal;
use clap::Args;
use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure},
    page::{Page, PageArguments},
    store::{Access, InboxWord},
    text::escape,
};

#[derive(Debug, Args)]
#[command(after_help = "\
The URL has a key, which changes at each start without --page-key-file. On the page, entries can be handled again; erasing is possible \
only on the command line. With --read-only, the page has no buttons.")]
pub(super) struct ShowPageArguments {
    #[command(flatten)]
    inbox: InboxWord,
    #[command(flatten)]
    page: PageArguments,
}

pub(super) async fn run(
    arguments: ShowPageArguments,
    access: Access,
    context: &Context,
) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = access.open(&place).await?;
    let listening = arguments.page.bind(&context.output).await?;
    let page = Page::new(&inbox, place.shown(), listening);
    let page = match access {
        Access::Full => page,
        Access::ReadOnly => page.read_only(),
    };
    let failed = |error: std::io::Error| Failure::failed("the page ended").because(&error);
    let url = page.url();
    let line = format!("The page of {}: {url}\nCtrl-C ends it.", escape::line(place.shown()));
    context.output.either("page", &json!({ "page": url, "inbox": place.shown() }), &line)?;
    page.serve(stop_signal()).await.map_err(failed)?;
    inbox.close().await?;
    context.output.note("\nended");
    Ok(Exit::Done)
}
