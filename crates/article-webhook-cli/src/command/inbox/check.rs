use std::path::Path;

use serde_json::json;

use crate::{context::Context, exit::Exit, failure::Failure, output::Tone, store, text::escape};

pub(super) async fn run(file: &Path, context: &Context) -> Result<Exit, Failure> {
    let inbox = store::shared(file).await?;
    let findings = inbox.check().await?;
    if context.output.is_json() {
        context.output.json(&json!({ "sound": findings.is_empty(), "findings": findings }))?;
    } else if findings.is_empty() {
        context
            .output
            .line(&format!("{}  no damage found", context.output.paint(Tone::Good, "sound")))?;
    }
    if findings.is_empty() {
        return Ok(Exit::Done);
    }
    if !context.output.is_json() {
        for finding in &findings {
            context.output.line(&format!(
                "{}  {}",
                context.output.paint(Tone::Bad, "damage"),
                escape::line(finding)
            ))?;
        }
    }
    Ok(Exit::Failed)
}
