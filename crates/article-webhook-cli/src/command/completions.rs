use clap::Args;
use clap_complete::Shell;

use crate::{context::Context, exit::Exit, failure::Failure};

#[derive(Debug, Args)]
#[command(
    after_help = "For bash: article-webhook completions bash >~/.local/share/bash-completion/completions/article-webhook"
)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(
    arguments: &CompletionsArguments,
    mut line: clap::Command,
    context: &Context,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut line, "article-webhook", &mut script);
    context.output.document(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
