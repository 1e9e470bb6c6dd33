use std::{fs, path::PathBuf};

use clap::Args;
use serde_json::{Map, Value};

use crate::{
    calls::{ServiceArguments, configured},
    context::Context,
    failure::{Exit, Failure},
    settings::input::awaited,
};

#[derive(Debug, Args)]
pub(crate) struct BrandArguments {
    /// A file with one JSON object, which is sent unchanged
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    service: ServiceArguments,
}

const FIX: &str =
    "name a file that you may read, and that has one JSON object, such as {\"name\":\"My shop\"}";

pub(crate) async fn run(arguments: BrandArguments, context: &Context) -> Result<Exit, Failure> {
    let path = arguments.file.display();
    let text = awaited(|| fs::read(&arguments.file))
        .map_err(|error| Failure::of_file(&arguments.file, &error).fix(FIX))?;
    let brand: Map<String, Value> = serde_json::from_slice(&text).map_err(|error| {
        Failure::usage(format!("{path} is not one JSON object")).because(&error).fix(FIX)
    })?;
    let client = arguments.service.client(&context.environment)?;
    configured(client.configure_brand(&brand).await, &context.output)
}
