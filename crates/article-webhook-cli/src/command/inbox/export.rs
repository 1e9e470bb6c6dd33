use std::{
    io::{self, BufWriter, ErrorKind, IsTerminal, Write, stdout},
    path::{Path, PathBuf},
};

use article_webhook_inbox::Inbox;
use clap::Args;
use serde_json::json;
use tempfile::{NamedTempFile, PersistError};

use super::{
    progress::{Counting, Whole},
    selection::{ChoiceArguments, what_there_is},
};
use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::{InboxWord, Place},
    text::{entries, escape},
};

#[derive(Debug, Args)]
pub(super) struct ExportArguments {
    #[command(flatten)]
    inbox: InboxWord,
    /// Write to this file, which must not exist, instead of standard output
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    choice: ChoiceArguments,
}

impl ExportArguments {
    /// With a filter, the entries that pass it, without the ledger, which is about all jobs.
    async fn write(&self, inbox: &Inbox, place: &Place, to: impl Write) -> Result<u64, Failure> {
        if self.choice.is_empty() {
            return Ok(inbox.export(to).await?);
        }
        match inbox.export_entries(self.choice.filter(), to).await? {
            0 => Err(Failure::nothing_matched("no entry matches").fix(what_there_is(place))),
            written => Ok(written),
        }
    }
}

pub(super) async fn run(arguments: ExportArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    // The number of entries, without the ledger.
    let whole = match arguments.choice.is_empty() && context.output.has_progress() {
        true => Whole::Lines(inbox.counts().await?.total()),
        false => Whole::Unknown,
    };
    let Some(path) = &arguments.output else {
        let mut kept = ErrorCapture::new(Shown::default());
        let to = Counting::new(BufWriter::new(&mut kept), "exported", whole, &context.output);
        let written = arguments.write(&inbox, &place, to).await;
        return match kept.failed {
            Some(error) => Err(Failure::of_output(&error)),
            None => written.map(|_| Exit::Done),
        };
    };
    let exported = into_file(&inbox, &place, path, &arguments, whole, context).await?;
    let value = json!({ "exported": exported });
    context.output.done("export", &value, &format!("exported {}", entries(exported)))
}

/// The file appears whole or not at all, and only its owner can read it.
async fn into_file(
    inbox: &Inbox,
    place: &Place,
    path: &Path,
    arguments: &ExportArguments,
    whole: Whole,
    context: &Context,
) -> Result<u64, Failure> {
    let unwritable = |error: &io::Error| {
        let fix = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "make room on the disk, or name a file on another one"
            }
            _ => "name a file that does not exist, in a folder that you may write to",
        };
        let what = format!("{} cannot be written", path.display());
        Failure::failed(what).because(error).fix(fix)
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .map_err(|error| unwritable(&error))?;
    let mut kept = ErrorCapture::new(file);
    let to = Counting::new(BufWriter::new(&mut kept), "exported", whole, &context.output);
    let exported = arguments.write(inbox, place, to).await;
    context.output.progress("");
    if let Some(error) = kept.failed {
        return Err(unwritable(&error));
    }
    let (exported, file) = (exported?, kept.inner);
    file.as_file().sync_all().map_err(|error| unwritable(&error))?;
    file.persist_noclobber(path).map_err(|PersistError { error, .. }| unwritable(&error))?;
    Ok(exported)
}

/// Standard output. On a terminal, lines of JSON are escaped.
#[derive(Default)]
struct Shown {
    rest: Vec<u8>,
}

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = stdout().lock();
        if !out.is_terminal() {
            return out.write(bytes);
        }
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            writeln!(out, "{}", escape::json(&line))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stdout().flush()
    }
}

/// Keeps why a write failed: the inbox that writes calls that a failure of its own.
struct ErrorCapture<W> {
    inner: W,
    failed: Option<io::Error>,
}

impl<W> ErrorCapture<W> {
    fn new(inner: W) -> Self {
        Self { inner, failed: None }
    }

    fn keep<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            // After an interruption it is written again.
            if kind != ErrorKind::Interrupted {
                self.failed.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for ErrorCapture<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.keep(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.keep(flushed)
    }
}
