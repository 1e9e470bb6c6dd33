use serde_json::json;

use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::InboxWord,
    text::{escape, moment},
};

/// Who runs the tool.
fn operator() -> String {
    let [user, host] = [whoami::username(), whoami::hostname()]
        .map(|name| name.unwrap_or_else(|_| "unknown".to_owned()));
    format!("{user}@{host}")
}

/// Pauses the workers of all processes. Says since when they are paused and who paused them, which may be before.
pub(super) async fn pause(inbox: &InboxWord, context: &Context) -> Result<Exit, Failure> {
    let inbox = inbox.place(&context.environment)?.shared().await?;
    inbox.pause(operator()).await?;
    let since = inbox.ledger().paused_since().await?;
    let shown =
        since.as_ref().map_or("now".to_owned(), |since| escape::line(&moment::since(since)));
    let json = json!({
        "paused_since": since.as_ref().map(|since| moment::exact(since.at)),
        "paused_by": since.as_ref().and_then(|since| since.by.as_deref()),
    });
    let line = format!("paused since {shown}: `inbox resume` ends that");
    context.output.done("pause", &json, &line)
}

/// Ends a pause.
pub(super) async fn resume(inbox: &InboxWord, context: &Context) -> Result<Exit, Failure> {
    let inbox = inbox.place(&context.environment)?.shared().await?;
    inbox.resume().await?;
    let line = "not paused: workers get entries again";
    context.output.done("pause", &json!({ "paused_since": null, "paused_by": null }), line)
}
