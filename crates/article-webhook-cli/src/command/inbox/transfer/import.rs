use std::{
    fs::File,
    io::{BufRead, BufReader, stdin},
    path::PathBuf,
};

use clap::Args;
use serde_json::json;

use super::counting::Counting;
use crate::{context::Context, exit::Exit, failure::Failure, store};

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The file of the inbox
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What `inbox export` wrote [default: standard input]
    #[arg(value_name = "LINES")]
    lines: Option<PathBuf>,
}

pub(crate) async fn run(arguments: ImportArguments, context: &Context) -> Result<Exit, Failure> {
    let lines: Box<dyn BufRead> = match &arguments.lines {
        None => Box::new(stdin().lock()),
        Some(path) => {
            let file = File::open(path).map_err(|error| {
                Failure::usage(format!("{} cannot be read", path.display())).because(&error)
            })?;
            Box::new(BufReader::new(file))
        }
    };
    let inbox = store::shared(&arguments.file).await?;
    let mut lines = Counting::new(lines, "read", &context.output);
    let imported = inbox.import(&mut lines).await;
    lines.into_inner();
    let imported = imported?;
    let (added, present) = (imported.added, imported.present);
    let line = format!("added {added} entries; {present} were there already");
    context.output.either(&json!({ "added": added, "present": present }), &line)?;
    Ok(Exit::Done)
}
