//! The commands, one file each.

mod attempt;
mod confirm;
mod handed;

mod brand;
mod check;
mod collect;
mod completions;
mod demo;
mod doctor;
mod get;
mod inbox;
mod listen;
mod order;
mod send;
mod simulate;
mod targets;

use clap::Subcommand;

use crate::{
    context::Context,
    failure::{Exit, Failure},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See the whole loop: a simulated service, a receiver that breaks, and its inbox
    Demo(demo::DemoArguments),
    /// Manage an inbox, even while a receiver works on it
    Inbox(inbox::InboxArguments),
    /// Order an article
    Order(order::OrderArguments),
    /// Get a job, and its article once it is complete
    Get(get::GetArguments),
    /// Configure the brand for which articles are written
    Brand(brand::BrandArguments),
    /// Configure where the service delivers the articles of a brand
    Targets(targets::TargetsArguments),
    /// Poll the service for missed articles, and store them
    Collect(collect::CollectArguments),
    /// Simulate the service on this machine: its API, deliveries, retries and faults
    Simulate(simulate::SimulateArguments),
    /// Receive on this machine, and forward deliveries to an application
    Listen(listen::ListenArguments),
    /// Deliver one article as the service does, intact or with a fault
    Send(send::SendArguments),
    /// Test a receiver, written in any language, with about seventy requests
    Check(check::CheckArguments),
    /// Find problems in this set-up before the first delivery
    Doctor(doctor::DoctorArguments),
    /// Print shell completions
    Completions(completions::CompletionsArguments),
}

impl Command {
    /// Whether the command ends at Ctrl-C by itself, and has then done what it was asked for.
    pub(crate) fn ends_by_signal(&self) -> bool {
        match self {
            Self::Demo(_) | Self::Simulate(_) | Self::Listen(_) => true,
            Self::Inbox(arguments) => arguments.ends_by_signal(),
            _ => false,
        }
    }

    /// `line` is the whole command line, for completions.
    pub(crate) async fn run(
        self,
        context: &Context,
        line: fn() -> clap::Command,
    ) -> Result<Exit, Failure> {
        match self {
            Self::Demo(arguments) => demo::run(arguments, context).await,
            Self::Inbox(arguments) => inbox::run(arguments, context).await,
            Self::Order(arguments) => order::run(arguments, context).await,
            Self::Get(arguments) => get::run(arguments, context).await,
            Self::Brand(arguments) => brand::run(arguments, context).await,
            Self::Targets(arguments) => targets::run(arguments, context).await,
            Self::Collect(arguments) => collect::run(arguments, context).await,
            Self::Simulate(arguments) => simulate::run(arguments, context).await,
            Self::Listen(arguments) => listen::run(arguments, context).await,
            Self::Send(arguments) => send::run(arguments, context).await,
            Self::Check(arguments) => check::run(arguments, context).await,
            Self::Doctor(arguments) => doctor::run(arguments, context).await,
            Self::Completions(arguments) => completions::run(&arguments, line(), context),
        }
    }
}
