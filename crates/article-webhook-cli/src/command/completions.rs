use clap::Args;
use clap_complete::Shell;

use crate::{
    context::Context,
    failure::{Exit, Failure},
};

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
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Bash {
        // The generator writes the hyphen of the program's name in two ways, so that no subcommand is completed.
        script = script.replace("article__subcmd__webhook", "article__webhook");
    }
    context.output.document(script.as_bytes())?;
    Ok(Exit::Done)
}
