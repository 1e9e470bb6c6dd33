//! The whole loop in one process.

mod receiver;

mod happening;

mod environment;

mod headless;
mod page;

use std::path::{Path, PathBuf};

use article_webhook_inbox::stop_signal;
use clap::Args;

use crate::{
    context::Context,
    failure::{Exit, Failure},
    output::Output,
    page::PageArguments,
    text::command,
};
use environment::Running;

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct DemoArguments {
    /// Break the receiver in three ways, show that each article arrives once, and end
    #[arg(long, conflicts_with_all = ["page", "page_allow_remote", "page_key_file"])]
    headless: bool,
    /// Keep the inbox in this file, which must not exist [default: a temporary file]
    #[arg(long, value_name = "FILE")]
    inbox: Option<PathBuf>,
    #[command(flatten)]
    page: PageArguments,
}

const AFTER: &str = "\
The demo needs no account and no network: the service, the receiver and its inbox run in this process, on 127.0.0.1. It \
shows a page on which you order articles and break the receiver, until Ctrl-C. With --headless, it ends within ten seconds: \
with 0 if each article arrived once, and with 1 if not.";

/// How many times as fast as the service.
const SPEED: u32 = 60;
const HEADLESS_SPEED: u32 = 120;

pub(crate) async fn run(arguments: DemoArguments, context: &Context) -> Result<Exit, Failure> {
    // Ctrl-C ends it whether its output is read or not.
    let output = context.output.queued()?;
    let ended = demo(arguments, context, &output).await;
    output.flush();
    ended.and_then(|exit| output.written().map(|()| exit))
}

async fn demo(
    arguments: DemoArguments,
    context: &Context,
    output: &Output,
) -> Result<Exit, Failure> {
    let file = arguments.inbox.as_deref();
    if let Some(file) = file {
        context.environment.may_change_inbox()?;
        must_be_new(file)?;
    }
    if !arguments.headless {
        let listening = arguments.page.bind(output).await?;
        let mut running = Running::start(file, SPEED).await?;
        let lived = page::run(&mut running, listening, output).await;
        running.stop().await?;
        return lived.map(|()| Exit::Done);
    }
    let mut running = Running::start(file, HEADLESS_SPEED).await?;
    let shown = tokio::select! {
        shown = headless::show(&mut running, output) => shown,
        () = stop_signal() => {
            Err(context.interruption.failure())
        }
        () = output.unread() => Err(Failure::of_closed_pipe()),
    };
    let ended = running.stop().await;
    shown?;
    headless::end(&ended?, file, output)
}

/// The demo handles each article in its inbox as its own, so it takes no inbox that may have others. A link counts as
/// a file, wherever it leads.
fn must_be_new(file: &Path) -> Result<(), Failure> {
    if file.symlink_metadata().is_err() {
        return Ok(());
    }
    let file = file.display().to_string();
    let fix = format!(
        "name a file that does not exist; this shows what an earlier demo left: {}",
        command::list(&file)
    );
    Err(Failure::usage(format!("{file} exists, and the demo would handle what is in it")).fix(fix))
}
