use serde_json::json;

use crate::{
    context::Context, exit::Exit, failure::Failure, store::InboxArgument, text::moment::exact,
};

/// Pauses the workers of all processes. Says since when they are paused, which may be before.
pub(super) async fn pause(inbox: &InboxArgument, context: &Context) -> Result<Exit, Failure> {
    let inbox = inbox.place(&context.environment)?.shared().await?;
    inbox.pause().await?;
    let since = inbox.ledger().paused_since().await?.map(exact);
    let line =
        format!("paused since {}: `inbox resume` ends that", since.as_deref().unwrap_or("now"));
    context.output.either(&json!({ "paused_since": since }), &line)?;
    Ok(Exit::Done)
}

/// Ends a pause.
pub(super) async fn resume(inbox: &InboxArgument, context: &Context) -> Result<Exit, Failure> {
    let inbox = inbox.place(&context.environment)?.shared().await?;
    inbox.resume().await?;
    let line = "not paused: workers get entries again";
    context.output.either(&json!({ "paused_since": null }), line)?;
    Ok(Exit::Done)
}
