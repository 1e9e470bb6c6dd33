use std::{
    io::{self, ErrorKind, IsTerminal},
    path::{Path, PathBuf},
};

use article_webhook_inbox::Inbox;
use clap::Args;
use serde_json::json;
use tempfile::{NamedTempFile, PersistError};
use tokio::{
    fs::File,
    io::{
        AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter, DuplexStream,
        duplex, stdout,
    },
    join,
};

use super::selection::{ChoiceArguments, what_there_is};
use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::{InboxWord, Place},
    text::{entries, escape},
};

/// How many bytes of the export wait to be written.
const PIPE_BYTES: usize = 1 << 16;

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
    /// The inbox writes into a pipe, so that its failures are distinguished from those of the output.
    async fn write(
        &self,
        inbox: &Inbox,
        place: &Place,
        to: impl AsyncWrite + Unpin,
        unwritable: impl Fn(&io::Error) -> Failure,
    ) -> Result<u64, Failure> {
        let (into, lines) = duplex(PIPE_BYTES);
        let (exported, passed) = join!(self.export(inbox, place, into), self.pass(lines, to));
        passed.map_err(|error| unwritable(&error))?;
        exported
    }

    /// With a filter, the entries that pass it, without the ledger, which is about all jobs.
    async fn export(
        &self,
        inbox: &Inbox,
        place: &Place,
        into: DuplexStream,
    ) -> Result<u64, Failure> {
        if self.choice.is_empty() {
            return Ok(inbox.export(into).await?);
        }
        match inbox.export_entries(self.choice.filter(), into).await? {
            0 => Err(Failure::nothing_matched("no entry matches").fix(what_there_is(place))),
            written => Ok(written),
        }
    }

    /// On a terminal, lines of JSON are escaped.
    async fn pass(&self, lines: DuplexStream, to: impl AsyncWrite + Unpin) -> io::Result<()> {
        let is_terminal = self.is_on_terminal();
        let (mut lines, mut to) = (BufReader::new(lines), BufWriter::new(to));
        let mut line = String::new();
        while lines.read_line(&mut line).await? > 0 {
            if is_terminal {
                line = escape::json(line.trim_end()) + "\n";
            }
            to.write_all(line.as_bytes()).await?;
            line.clear();
        }
        to.flush().await
    }

    fn is_on_terminal(&self) -> bool {
        self.output.is_none() && io::stdout().is_terminal()
    }
}

pub(super) async fn run(arguments: ExportArguments, context: &Context) -> Result<Exit, Failure> {
    let place = arguments.inbox.place(&context.environment)?;
    let inbox = place.read().await?;
    let Some(path) = &arguments.output else {
        let work = arguments.write(&inbox, &place, stdout(), Failure::of_output);
        // Progress on the same terminal would stand between the lines.
        match arguments.is_on_terminal() {
            true => work.await?,
            false => context.output.during("exporting", work).await?,
        };
        return Ok(Exit::Done);
    };
    let work = into_file(&inbox, &place, path, &arguments);
    let exported = context.output.during("exporting", work).await?;
    let value = json!({ "exported": exported });
    context.output.done("export", &value, &format!("exported {}", entries(exported)))
}

/// The file appears whole or not at all, and only its owner can read it.
async fn into_file(
    inbox: &Inbox,
    place: &Place,
    path: &Path,
    arguments: &ExportArguments,
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
    let to = file.as_file().try_clone().map(File::from_std);
    let mut to = to.map_err(|error| unwritable(&error))?;
    let exported = arguments.write(inbox, place, &mut to, unwritable).await?;
    to.sync_all().await.map_err(|error| unwritable(&error))?;
    file.persist_noclobber(path).map_err(|PersistError { error, .. }| unwritable(&error))?;
    Ok(exported)
}
