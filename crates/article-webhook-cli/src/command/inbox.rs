//! The commands of an operator.

mod selection;
mod view;

mod backup;
mod causes;
mod change;
mod export;
mod import;
mod jobs;
mod list;
mod migrate;
mod page;
mod pause;
mod salvage;
mod show;
mod status;

use clap::{Args, Subcommand};

use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::{Access, InboxWord},
};
use change::{Change, ChangeArguments};

#[derive(Debug, Args)]
pub(crate) struct InboxArguments {
    /// Refuse every command that changes the inbox [also: any value of ARTICLE_INBOX_READ_ONLY]
    #[arg(long, global = true, help_heading = "Global options")]
    read_only: bool,
    #[command(subcommand)]
    command: InboxCommand,
}

#[derive(Debug, Subcommand)]
enum InboxCommand {
    /// Report what is dead, unhandled, quarantined or corrupt, whether the inbox works, and what it contains
    #[command(after_help = status::HELP)]
    Status(status::StatusArguments),
    /// List entries, oldest first
    List(list::ListArguments),
    /// Group dead, unhandled, quarantined and corrupt entries by cause, and say how to requeue a group
    #[command(after_help = causes::HELP)]
    Causes(causes::CausesArguments),
    /// Show the entries of a job, with their bodies and the causes of failure
    Show(show::ShowArguments),
    /// List the jobs that were ordered or are missing: the ledger
    Jobs(jobs::JobsArguments),
    /// Show the inbox in the browser, even while a receiver works on it
    Page(page::ShowPageArguments),
    /// Stop handing out entries to the workers of all processes, until `resume`; deliveries are still stored
    Pause(PlaceArguments),
    /// End a pause
    Resume(PlaceArguments),
    /// Handle entries again, at once and with all their attempts
    #[command(
        after_help = Change::Requeue.selection_help()
    )]
    Requeue {
        #[command(flatten)]
        change: ChangeArguments,
        /// Requeue at most this many, to see whether they fail again
        #[arg(
            long,
            value_name = "COUNT",
            value_parser = clap::value_parser!(u64).range(1..),
            conflicts_with = "jobs",
            help_heading = "Options"
        )]
        first: Option<u64>,
    },
    /// Make entries dead, so that no handler gets them any more
    #[command(
        after_help = Change::Discard { cause: String::new() }.selection_help()
    )]
    Discard {
        #[command(flatten)]
        change: ChangeArguments,
        /// The reason, stored as the cause of the entry
        #[arg(
            long,
            default_value = "discarded by an operator",
            value_name = "TEXT",
            help_heading = "Options"
        )]
        because: String,
    },
    /// Erase jobs with all their entries and bodies
    #[command(after_help = "\
In a file, none of their bytes remain. In PostgreSQL, they remain until vacuum, and in archived WAL and backups.")]
    Erase(ChangeArguments),
    /// Copy the file of an inbox that may be in use
    #[command(after_help = backup::BACKUP_HELP)]
    Backup(backup::BackupArguments),
    /// Replace the file of an inbox with a backup
    #[command(after_help = backup::RESTORE_HELP)]
    Restore(backup::RestoreArguments),
    /// Create the tables of an inbox in PostgreSQL, or upgrade them to this version
    #[command(after_help = migrate::HELP)]
    Migrate(migrate::MigrateArguments),
    /// Read what can be trusted in a damaged file into a new one
    #[command(after_help = salvage::HELP)]
    Salvage(salvage::SalvageArguments),
    /// Record that a person has checked the orders that may be missing after a salvage: an intent that is not found is then ordered
    OrdersChecked(PlaceArguments),
    /// Copy everything from one inbox into another, even while a receiver works on the other
    #[command(after_help = import::COPY_HELP)]
    Copy(import::CopyArguments),
    /// Write the ledger and all entries with their bodies, or those that filters select, as lines of JSON
    Export(export::ExportArguments),
    /// Add the entries from the export of another inbox
    Import(import::ImportArguments),
}

impl InboxArguments {
    /// Whether the command ends at Ctrl-C by itself.
    pub(super) fn ends_by_signal(&self) -> bool {
        matches!(self.command, InboxCommand::Page(_))
    }
}

#[derive(Debug, Args)]
struct PlaceArguments {
    #[command(flatten)]
    inbox: InboxWord,
}

pub(crate) async fn run(arguments: InboxArguments, context: &Context) -> Result<Exit, Failure> {
    use InboxCommand as Is;

    let changes = match &arguments.command {
        Is::Requeue { change, .. } | Is::Erase(change) | Is::Discard { change, .. } => {
            !change.is_dry_run()
        }
        Is::Migrate(migrate) => !migrate.only_prints(),
        Is::Import(_)
        | Is::Copy(_)
        | Is::Restore(_)
        | Is::Pause(_)
        | Is::Resume(_)
        | Is::OrdersChecked(_) => true,
        _ => false,
    };
    let may_change = context.environment.may_change_inbox();
    let is_read_only = arguments.read_only || may_change.is_err();
    let access = if is_read_only { Access::ReadOnly } else { Access::Full };
    if changes {
        may_change?;
    }
    if changes && arguments.read_only {
        return Err(Failure::usage("this command changes the inbox, and --read-only forbids that")
            .fix("leave it out"));
    }
    match arguments.command {
        Is::Status(arguments) => status::run(arguments, access, context).await,
        Is::List(arguments) => list::run(arguments, context).await,
        Is::Causes(arguments) => causes::run(arguments, context).await,
        Is::Show(arguments) => show::run(arguments, context).await,
        Is::Jobs(arguments) => jobs::run(arguments, context).await,
        Is::Page(arguments) => page::run(arguments, access, context).await,
        Is::Pause(arguments) => pause::pause(&arguments.inbox, context).await,
        Is::Resume(arguments) => pause::resume(&arguments.inbox, context).await,
        Is::Migrate(arguments) => migrate::run(arguments, context).await,
        Is::Backup(arguments) => backup::backup(arguments, context).await,
        Is::Restore(arguments) => backup::restore(arguments, context).await,
        Is::Copy(arguments) => import::copy(arguments, context).await,
        Is::Salvage(arguments) => salvage::run(arguments, context).await,
        Is::OrdersChecked(arguments) => salvage::orders_checked(&arguments.inbox, context).await,
        Is::Requeue { change, first } => change::run(Change::Requeue, change, first, context).await,
        Is::Discard { change, because: cause } => {
            change::run(Change::Discard { cause }, change, None, context).await
        }
        Is::Erase(arguments) => change::run(Change::Erase, arguments, None, context).await,
        Is::Export(arguments) => export::run(arguments, context).await,
        Is::Import(arguments) => import::run(arguments, context).await,
    }
}
