//! The command line as a whole.

mod examples;

use std::{
    env,
    io::{Write, stdout},
    path::{Path, PathBuf},
    pin::pin,
    process, thread,
    time::{Duration, Instant},
};

use article_webhook_inbox::stop_signal;
use clap::{CommandFactory, FromArgMatches, Parser, error::ErrorKind};

use crate::{
    command::Command,
    context::{Context, Interruption},
    failure::{self, Exit, Failure},
    output::{Format, Output},
    settings::input,
    text::escape,
};

/// How long a command may take to end in order after Ctrl-C.
const GRACE: Duration = Duration::from_secs(3);

/// How often it is looked whether the command waits for input.
const LOOK: Duration = Duration::from_millis(20);

/// Manages an inbox of articles, orders articles, simulates the service, and checks receivers.
#[derive(Debug, Parser)]
#[command(name = "article-webhook", version, after_help = failure::HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Print JSON, one object per line
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// Read variables that are not set from this file, such as .env
    #[arg(long, global = true, value_name = "PATH", help_heading = "Global options")]
    env_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

impl Arguments {
    pub(crate) fn of_command_line() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&examples::added(Self::command()).try_get_matches()?)
    }

    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Human }
    }

    pub(crate) fn env_file(&self) -> Option<&Path> {
        self.env_file.as_deref()
    }

    pub(crate) async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if self.command.ends_by_signal() {
            let mut command = pin!(self.command.run(context, Self::command));
            return tokio::select! {
                // Listened to before the first line is printed: who reads that line may send a signal at once.
                biased;
                () = stop_signal() => command.await,
                ended = &mut command => ended,
            };
        }
        let (output, interruption) = (context.output.clone(), context.interruption.clone());
        let mut stopped = tokio::spawn(async {
            stop_signal().await;
            thread::spawn(move || end(&output, &interruption));
        });
        tokio::select! {
            ended = self.command.run(context, Self::command) => ended,
            _ = &mut stopped => Err(context.interruption.failure()),
        }
    }
}

/// Ends the process if the command does not end in order: at once where it waits for input.
fn end(output: &Output, interruption: &Interruption) {
    let end = Instant::now() + GRACE;
    while Instant::now() < end && !input::is_awaited() {
        thread::sleep(LOOK);
    }
    process::exit(output.failure(&interruption.failure()) as i32);
}

/// Shows help, the version, or what is wrong with the command line, which may quote it.
pub(crate) fn shown(error: &clap::Error) -> Exit {
    let is_json = env::args_os().take_while(|it| it != "--").any(|it| it == "--json");
    let output = Output::new(if is_json { Format::Json } else { Format::Human });
    if !error.use_stderr() {
        let help = error.render();
        let help = if output.has_colours() { help.ansi().to_string() } else { help.to_string() };
        return match stdout().write_all(help.as_bytes()).and_then(|()| stdout().flush()) {
            Ok(()) => Exit::Done,
            Err(error) => output.failure(&Failure::of_output(&error)),
        };
    }
    let text = without_urls(error.render().to_string());
    if is_json {
        return output.failure(&refused(error.kind(), &text));
    }
    output.note(escape::lines(&text).trim_end());
    Exit::Usage
}

/// A URL in a wrong place is quoted, and may have a password.
fn without_urls(text: String) -> String {
    let words = env::args_os().filter_map(|word| word.into_string().ok());
    let mut urls: Vec<_> =
        words.filter_map(|word| word.find("://").map(|at| word[at..].to_owned())).collect();
    urls.retain(|url| url.len() > "://".len());
    // One may be the beginning of another.
    urls.sort_by_key(|url| std::cmp::Reverse(url.len()));
    urls.iter().fold(text, |text, url| text.replace(url, "://…"))
}

/// What is wrong with the command line: its first paragraph says what, and the others what fixes it.
fn refused(kind: ErrorKind, text: &str) -> Failure {
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage("a command or an argument is missing").fix("add --help to see them");
    }
    let line = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.trim_end().split("\n\n").map(line);
    let what = paragraphs.next().unwrap_or_default();
    let fix: Vec<_> = paragraphs.collect();
    Failure::usage(what.strip_prefix("error: ").unwrap_or(&what)).fix(fix.join("; "))
}
