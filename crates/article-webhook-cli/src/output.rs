//! The one place that writes to standard output and standard error.

pub(crate) mod log;
mod queue;
mod table;

use std::{
    env,
    io::{self, IsTerminal, Write, stderr, stdout},
    time::{Duration, Instant, SystemTime},
};

use anstyle::{AnsiColor, Style};
use article_webhook::adapter::repair;
use article_webhook_inbox::{JobState, State, store::Progress};
use serde::Serialize;
use serde_json::json;
use terminal_size::{Width, terminal_size_of};
use tokio::time::timeout;

use crate::{
    failure::{Exit, Failure},
    secrets,
    text::{escape, moment},
};
use queue::Queue;

pub(crate) use table::Table;

/// How long the end of a command waits for a reader that is slow.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Human,
    Json,
}

/// What a piece of text says about what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Head,
    Quiet,
    Good,
    Busy,
    Bad,
}

impl Tone {
    pub(crate) fn of(state: State) -> Self {
        match state {
            State::Done => Self::Good,
            State::Waiting | State::Leased => Self::Busy,
            _ => Self::Bad,
        }
    }

    pub(crate) fn of_job(state: JobState) -> Self {
        match state {
            state if state.is_open() => Self::Busy,
            state if state.has_article() => Self::Good,
            _ => Self::Bad,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Head => Style::new().bold(),
            Self::Quiet => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Busy => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
        }
    }

    /// As the style of the page has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Busy => "busy",
            Self::Bad => "bad",
            Self::Plain | Self::Head | Self::Quiet => "quiet",
        }
    }
}

/// Whether one of the two outputs gets colours. It is decided once, for everything that is written to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Off,
    On,
}

#[derive(Debug, Clone)]
pub(crate) struct Output {
    format: Format,
    stdout: Colour,
    stderr: Colour,
    /// Whether standard error is a terminal that can wipe a line, so that progress can be shown on one.
    has_progress: bool,
    queues: Option<Queues>,
}

/// Lines that wait, so that a command does not.
#[derive(Debug, Clone)]
struct Queues {
    stdout: Queue,
    stderr: Queue,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_wanted = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb;
        let colour = |is_terminal| if is_wanted && is_terminal { Colour::On } else { Colour::Off };
        Self {
            format,
            stdout: colour(stdout().is_terminal()),
            stderr: colour(stderr().is_terminal()),
            has_progress: stderr().is_terminal() && !is_dumb,
            queues: None,
        }
    }

    /// How many characters fit on a line of the terminal. `None`: it is none.
    pub(crate) fn width(&self) -> Option<usize> {
        let (Width(width), _) = terminal_size_of(stdout())?;
        Some(width.into())
    }

    /// Whether what is shown may have colours.
    pub(crate) fn has_colours(&self) -> bool {
        matches!(self.stdout, Colour::On)
    }

    /// The same output, whose lines other threads write, for work that must not wait for a reader. Lines that do not fit are
    /// lost, and their number is reported. [Flush](Self::flush) it at the end.
    pub(crate) fn queued(&self) -> Result<Self, Failure> {
        let (format, colour) = (self.format, self.stdout);
        let lost_text = |lost| format!("{lost} lines were not shown: they were not read in time");
        let shown = move |lost| match format {
            Format::Json => format!("{}\n", json_line("lost", &json!({ "lost_lines": lost }))),
            Format::Human => format!("{}\n", painted(colour, Tone::Bad, &lost_text(lost))),
        };
        let noted = move |lost| format!("{}\n", lost_text(lost));
        let queues = || -> io::Result<_> {
            let stderr = Queue::new(stderr(), Box::new(noted))?;
            Ok(Queues { stdout: Queue::new(stdout(), Box::new(shown))?, stderr })
        };
        let queues = queues().map_err(|error| Failure::of_threads(&error))?;
        Ok(Self { queues: Some(queues), has_progress: false, ..self.clone() })
    }

    /// Resolves when the reader of standard output has ended, if lines are queued.
    pub(crate) async fn unread(&self) {
        match &self.queues {
            Some(queues) => queues.stdout.unread().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until the lines that are queued are written, or for a second.
    pub(crate) fn flush(&self) {
        let end = Instant::now() + FLUSH_TIMEOUT;
        for queue in self.queues.iter().flat_map(|queues| [&queues.stdout, &queues.stderr]) {
            queue.flush(end.saturating_duration_since(Instant::now()));
        }
    }

    /// Fails if a line that was queued could not be written. The reader may have ended.
    pub(crate) fn written(&self) -> Result<(), Failure> {
        let failed = self.queues.as_ref().and_then(|queues| queues.stdout.failed());
        failed.map_or(Ok(()), |kind| Err(Failure::of_output(&kind.into())))
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// A piece of text in its tone. Text from outside must be escaped before.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        painted(self.stdout, tone, text)
    }

    /// A line for people. Text from outside must be escaped before.
    pub(crate) fn line(&self, line: &str) -> Result<(), Failure> {
        let line = secrets::removed(line);
        if let Some(queues) = &self.queues {
            queues.stdout.push(format!("{line}\n"));
            return Ok(());
        }
        write_line(&mut stdout().lock(), &line).map_err(|error| Failure::of_output(&error))
    }

    /// A line of JSON of a type of `schema.json`.
    pub(crate) fn json(&self, kind: &str, fields: &impl Serialize) -> Result<(), Failure> {
        self.line(&json_line(kind, fields))
    }

    /// JSON that exists already.
    pub(crate) fn service_json(&self, body: &[u8]) -> Result<(), Failure> {
        let repaired = repair(body);
        let readable = repaired.as_deref().unwrap_or(body);
        self.line(&escape::json(&String::from_utf8_lossy(readable)))
    }

    /// JSON or a line, as was asked for.
    pub(crate) fn either(
        &self,
        kind: &str,
        fields: &impl Serialize,
        line: &str,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Json => self.json(kind, fields),
            Format::Human => self.line(line),
        }
    }

    /// The same, at the end of a command that did what it was asked for.
    pub(crate) fn done(
        &self,
        kind: &str,
        fields: &impl Serialize,
        line: &str,
    ) -> Result<Exit, Failure> {
        self.either(kind, fields, line).map(|()| Exit::Done)
    }

    /// A document: an exact copy into a file or a pipe, and escaped and without secrets on a terminal.
    pub(crate) fn document(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = stdout().lock();
        let written = match out.is_terminal() {
            true => {
                let text = escape::lines(&String::from_utf8_lossy(bytes));
                write_line(&mut out, &secrets::removed(&text))
            }
            false => out.write_all(bytes).and_then(|()| out.flush()),
        };
        written.map_err(|error| Failure::of_output(&error))
    }

    /// A line on standard error, about the work and not about its result.
    pub(crate) fn note(&self, line: &str) {
        let line = secrets::removed(line);
        if let Some(queues) = &self.queues {
            queues.stderr.push(format!("{line}\n"));
            return;
        }
        self.clear_progress();
        // Nothing can be reported where standard error is closed.
        let _ = write_line(&mut stderr().lock(), &line);
    }

    /// Shows how far long work is, on a line that the next one replaces. Only on a terminal.
    pub(crate) fn progress(&self, line: &str) {
        if self.has_progress {
            let mut to = stderr().lock();
            let _ = write!(to, "\r\x1b[K{}", secrets::removed(line)).and_then(|()| to.flush());
        }
    }

    fn clear_progress(&self) {
        self.progress("");
    }

    /// Shows why the command failed, and what fixes it.
    pub(crate) fn failure(&self, failure: &Failure) -> Exit {
        if failure.is_closed_pipe {
            return Exit::Done;
        }
        let (what, fix) = (failure.to_string(), escape::line(failure.fix_text()));
        if self.is_json() {
            let (code, exit) = (failure.exit, failure.exit as u8);
            let fields = json!({ "code": code, "error": what, "fix": fix, "exit": exit });
            self.note(&json_line("error", &fields));
            return failure.exit;
        }
        self.note(&format!("{} {what}", painted(self.stderr, Tone::Bad, "error:")));
        self.note(&format!("{}   {fix}", painted(self.stderr, Tone::Good, "fix:")));
        failure.exit
    }
}

fn painted(colour: Colour, tone: Tone, text: &str) -> String {
    match (colour, tone) {
        (Colour::Off, _) | (_, Tone::Plain) => text.to_owned(),
        (Colour::On, tone) => format!("{style}{text}{style:#}", style = tone.style()),
    }
}

/// What every line has, and the fields of its type.
#[derive(Serialize)]
struct Line<'a, T> {
    r#type: &'a str,
    at: String,
    #[serde(flatten)]
    fields: &'a T,
}

fn json_line(kind: &str, fields: &impl Serialize) -> String {
    let line = Line { r#type: kind, at: moment::exact(SystemTime::now()), fields };
    let text = serde_json::to_string(&line).expect("what the tool shows has string keys");
    escape::json(&text)
}

fn write_line(to: &mut impl Write, line: &str) -> io::Result<()> {
    // In one call, so that lines of several tasks do not mix.
    to.write_all(format!("{line}\n").as_bytes())?;
    to.flush()
}

/// How often the time is shown that it has taken.
const TICK: Duration = Duration::from_secs(1);

impl Output {
    /// Does some work, and shows what it is, and for how long it has lasted. Only on a terminal.
    pub(crate) async fn during<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        self.during_known(what, &Progress::default(), work).await
    }

    /// The same, with how much is done and how long the rest takes, once that is known.
    pub(crate) async fn during_known<T>(
        &self,
        what: &str,
        progress: &Progress,
        work: impl Future<Output = T>,
    ) -> T {
        let (start, mut work) = (Instant::now(), std::pin::pin!(work));
        let done = loop {
            let lasted = start.elapsed();
            self.progress(&match progress.get() {
                Some((done, whole)) => format!("{what}, {}", rest(done, whole, lasted)),
                None => format!("{what}, for {}", moment::span(lasted)),
            });
            if let Ok(done) = timeout(TICK, &mut work).await {
                break done;
            }
        };
        self.clear_progress();
        done
    }
}

/// How much of the whole is done, and how long the rest takes.
fn rest(done: u64, whole: u64, lasted: Duration) -> String {
    // More may be done than was counted before.
    let done = done.min(whole).max(1) as f64;
    let left = lasted.mul_f64((whole as f64 - done).max(0.0) / done);
    format!("{:.0} %, {} left", 100.0 * done / whole.max(1) as f64, moment::span(left))
}
