use article_webhook_inbox::Finding;
use serde_json::json;

use super::Access;
use crate::{
    context::Context, exit::Exit, failure::Failure, output::Tone, store::InboxArgument,
    text::escape,
};

pub(super) async fn run(
    inbox: &InboxArgument,
    access: Access,
    context: &Context,
) -> Result<Exit, Failure> {
    let output = &context.output;
    let inbox = access.open(&inbox.place(&context.environment)?).await?;
    let (damage, settings): (Vec<_>, Vec<_>) = output
        .during("looking for damage", inbox.check())
        .await?
        .into_iter()
        .partition(Finding::is_damage);
    let exit = if damage.is_empty() { Exit::Done } else { Exit::Failed };
    if output.is_json() {
        let texts = |found: &[Finding]| found.iter().map(ToString::to_string).collect::<Vec<_>>();
        output.json(&json!({
            "sound": damage.is_empty(),
            "findings": texts(&damage),
            "settings": texts(&settings),
        }))?;
        return Ok(exit);
    }
    let line = |tone, kind, text: &str| {
        output.line(&format!("{}  {}", output.paint(tone, kind), escape::line(text)))
    };
    if damage.is_empty() {
        line(Tone::Good, "sound", "no damage found")?;
    }
    for found in &damage {
        line(Tone::Bad, "damage", &found.to_string())?;
    }
    for found in &settings {
        line(Tone::Busy, "setting", &found.to_string())?;
    }
    Ok(exit)
}
