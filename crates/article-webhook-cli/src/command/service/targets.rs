use std::path::PathBuf;

use article_client::PublishTarget;
use clap::Args;

use crate::{
    calls::{ServiceArguments, WebUrl, configured},
    context::Context,
    exit::Exit,
    failure::Failure,
    settings::token,
};

#[derive(Debug, Args)]
pub(crate) struct TargetsArguments {
    /// The brand, as `brand` printed it
    #[arg(value_name = "BRAND")]
    brand: String,
    /// The receiver that the service delivers to
    #[arg(long, value_name = "URL")]
    webhook_url: WebUrl,
    /// The name of the target
    #[arg(long, default_value = "default")]
    name: String,
    /// A file with the token that deliveries carry [default: the token in ARTICLE_WEBHOOK_TOKEN]
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArguments,
}

pub(crate) async fn run(arguments: TargetsArguments, context: &Context) -> Result<Exit, Failure> {
    let token = token::usable(arguments.token_file.as_deref(), &context.environment)?;
    let target = PublishTarget::webhook(&arguments.name, arguments.webhook_url.as_str(), &token)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let client = arguments.service.client(&context.environment)?;
    let answer = client.set_publish_targets(&arguments.brand, &[target]).await;
    configured(answer, &context.output)
}
