//! The commands, one file each.

mod inbox;

use clap::Subcommand;

use crate::{context::Context, exit::Exit, failure::Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look after an inbox, beside the receiver that works on it
    Inbox(inbox::InboxArguments),
}

impl Command {
    /// Whether the command ends at Ctrl-C by itself, and has then done what it was asked for.
    pub(crate) fn ends_by_signal(&self) -> bool {
        false
    }

    pub(crate) async fn run(
        self,
        context: &Context,
        _line: fn() -> clap::Command,
    ) -> Result<Exit, Failure> {
        match self {
            Self::Inbox(arguments) => inbox::run(arguments, context).await,
        }
    }
}
