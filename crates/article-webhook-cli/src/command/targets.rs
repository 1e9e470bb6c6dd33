use std::{collections::HashSet, path::PathBuf};

use article_webhook_client::PublishTarget;
use clap::{Args, builder::NonEmptyStringValueParser};
use serde_json::json;

use crate::{
    calls::{ServiceArguments, WebUrl, configured},
    command::confirm::confirm,
    context::Context,
    failure::{Exit, Failure},
    output::{Output, Table, Tone},
    settings::{self, Environment},
    text::escape,
};

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct TargetsArguments {
    /// The brand, as `brand` printed it
    #[arg(value_name = "BRAND", value_parser = NonEmptyStringValueParser::new())]
    brand: String,
    /// A receiver that the service delivers to; may be repeated, and then each needs a --name
    #[arg(long, value_name = "URL", required = true)]
    webhook_url: Vec<WebUrl>,
    /// The name of a target; may be repeated, in the order of the URLs [default: default]
    #[arg(long)]
    name: Vec<String>,
    /// A file with the token that deliveries carry; may be repeated, in the order of the URLs [default: the token in
    /// ARTICLE_WEBHOOK_TOKEN, for all URLs]
    #[arg(long, value_name = "PATH")]
    token_file: Vec<PathBuf>,
    /// Only show what would be sent
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    service: ServiceArguments,
}

const AFTER: &str = "\
The service replaces all publish targets of the brand with these, and its API does not list targets: name every target that you want \
to keep. The command asks for confirmation first; where it cannot ask, it needs --yes.";

struct Target {
    name: String,
    /// Where the URL leads. Its path may be a secret, and is not shown.
    origin: String,
    target: PublishTarget,
}

pub(crate) async fn run(arguments: TargetsArguments, context: &Context) -> Result<Exit, Failure> {
    let output = &context.output;
    let targets = arguments.targets(&context.environment)?;
    let brand = escape::line(&arguments.brand);
    let count = match targets.len() {
        1 => "this one".to_owned(),
        count => format!("these {count}"),
    };
    let replaces = format!("all publish targets of {brand} with {count}");
    if arguments.dry_run {
        show(&arguments.brand, &targets, output)?;
        output.note(&format!("would replace {replaces}; nothing was changed"));
        return Ok(Exit::Done);
    }
    let client = arguments.service.client(&context.environment)?;
    if !arguments.yes {
        let what = format!("replacing all publish targets of {}", arguments.brand);
        let show = || show(&arguments.brand, &targets, output);
        confirm(&what, &format!("replace {replaces}"), show, output).await?;
    }
    let targets: Vec<_> = targets.into_iter().map(|target| target.target).collect();
    let answer = client.set_publish_targets(&arguments.brand, &targets).await;
    let exit = configured(answer, output)?;
    if !output.is_json() {
        output.note(&format!("replaced {replaces}"));
    }
    Ok(exit)
}

impl TargetsArguments {
    fn targets(&self, environment: &Environment) -> Result<Vec<Target>, Failure> {
        let count = self.webhook_url.len();
        let default = ["default".to_owned()];
        let names = if self.name.is_empty() { &default[..] } else { &self.name };
        if names.len() != count {
            let what = match self.name.len() {
                0 => format!("{count} URLs, and no --name"),
                names => format!("{count} URLs, and {names} times --name"),
            };
            return Err(Failure::usage(what).fix("give one --name for each URL, in their order"));
        }
        let mut distinct = HashSet::new();
        if let Some(name) = names.iter().find(|name| !distinct.insert(*name)) {
            return Err(Failure::usage(format!("two targets have the name {name}"))
                .fix("give each target another --name"));
        }
        if !matches!(self.token_file.len(), 0 | 1) && self.token_file.len() != count {
            let what = format!("{count} --webhook-url and {} --token-file", self.token_file.len());
            return Err(Failure::usage(what)
                .fix("give one --token-file for each URL, in their order, or one for all"));
        }
        let target = |(index, (url, name)): (usize, (&WebUrl, &String))| {
            let file = self.token_file.get(index).or(self.token_file.first());
            let token = settings::usable_token(file.map(PathBuf::as_path), environment)?;
            let target = PublishTarget::webhook(name, url.as_str(), &token);
            let origin = url.as_url().origin().ascii_serialization();
            Ok(Target { name: name.clone(), origin, target })
        };
        self.webhook_url.iter().zip(names).enumerate().map(target).collect()
    }
}

fn show(brand: &str, targets: &[Target], output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        return targets.iter().try_for_each(|target| {
            let value = json!({ "brand": brand, "name": target.name, "origin": target.origin });
            output.json("target", &value)
        });
    }
    let mut table = Table::new(["TARGET", "AT"]);
    for target in targets {
        table
            .row([(Tone::Plain, escape::line(&target.name)), (Tone::Plain, target.origin.clone())]);
    }
    table.write(output)
}
