//! The command line as a whole.

use std::{
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use article_inbox::stop_signal;
use clap::{CommandFactory, Parser};

use crate::{
    command::Command,
    context::Context,
    exit::{self, Exit},
    failure::Failure,
    output::{Format, Output},
    text::escape,
};

/// How long a command may take to end in order after Ctrl-C.
const GRACE: Duration = Duration::from_secs(3);

/// Looks after an inbox of articles, orders articles, imitates the service, and checks receivers.
#[derive(Debug, Parser)]
#[command(name = "article-webhook", version, after_help = exit::HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Print JSON: one object a line
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// Read variables that are not set from this file, such as .env
    #[arg(long, global = true, value_name = "PATH", help_heading = "Global options")]
    env_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Human }
    }

    pub(crate) fn env_file(&self) -> Option<&Path> {
        self.env_file.as_deref()
    }

    pub(crate) async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if self.command.ends_by_signal() {
            return self.command.run(context, Self::command).await;
        }
        let mut stopped = tokio::spawn(async {
            stop_signal().await;
            // What blocks, such as a read of standard input, does not end in order.
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                process::exit(Exit::Failed as i32);
            });
        });
        tokio::select! {
            ended = self.command.run(context, Self::command) => ended,
            _ = &mut stopped => Err(Failure::failed("interrupted")),
        }
    }
}

/// Shows help, the version, or what is wrong with the command line, which may quote it.
pub(crate) fn shown(error: &clap::Error) -> Exit {
    if error.use_stderr() {
        Output::new(Format::Human).note(escape::lines(&error.render().to_string()).trim_end());
        return Exit::Usage;
    }
    // The reader may have ended, as in `--help | head -1`.
    let _ = error.print();
    Exit::Done
}

#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
