use std::{path::PathBuf, sync::Arc};

use article_webhook_inbox::{Backup, Restored, SqliteStore, store::Progress};
use clap::Args;
use serde_json::json;

use super::salvage::gaps;
use crate::{
    context::Context,
    failure::{Exit, Failure},
    store::{At, InboxArgument, blocking},
    text::{command::quoted, counted, entries, escape},
};

/// How many of the jobs that a backup lacks are named to a person.
const MAX_NAMED: usize = 100;

pub(super) const BACKUP_HELP: &str = "\
A receiver may use the file meanwhile. The copy is complete, and only its owner can read it.";

pub(super) const RESTORE_HELP: &str = "\
Stop the receiver first. The old files are moved away, and none is deleted. Jobs whose articles the backup does not have are \
expected, for `collect`. Jobs that the receiver has kept for its next start are kept. Entries that were done since the backup are handled \
again, unless the old file is copied into the restored one before the receiver starts. The exit code is 1 if more may be missing.";

#[derive(Debug, Args)]
pub(super) struct BackupArguments {
    /// The file of the inbox, or env:NAME for a variable with it
    #[arg(value_name = "FILE")]
    file: InboxArgument,
    /// The file to create
    #[arg(value_name = "COPY")]
    copy: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct RestoreArguments {
    /// A copy that `inbox backup` created
    #[arg(value_name = "COPY")]
    copy: PathBuf,
    /// The file of the inbox, or env:NAME for a variable with it
    #[arg(value_name = "FILE")]
    file: InboxArgument,
}

/// The file of an inbox. A database has other backups.
fn file_of(inbox: &InboxArgument, context: &Context) -> Result<PathBuf, Failure> {
    match inbox.place(&context.environment)?.at {
        At::File(path) => Ok(path),
        #[cfg(feature = "postgres")]
        At::Postgres(_) => Err(Failure::usage("the inbox is in PostgreSQL, which has backups of its own").fix(
            "use pg_dump and pg_restore, or a base backup with the archived WAL: see the page postgres_restore of the guide",
        )),
    }
}

pub(super) async fn backup(arguments: BackupArguments, context: &Context) -> Result<Exit, Failure> {
    let BackupArguments { file, copy } = arguments;
    let file = file_of(&file, context)?;
    let progress = Arc::new(Progress::default());
    let shown = Arc::clone(&progress);
    let work = blocking(move || SqliteStore::backup_with(file, copy, &progress));
    let backup = context.output.during_known("copying", &shown, work).await??;
    let Backup { entries, jobs, bytes, .. } = backup;
    let value = json!({ "entries": entries, "jobs": jobs, "bytes": bytes });
    context.output.done("backup", &value, &format!("backed up {}", content(&backup)))
}

pub(super) async fn restore(
    arguments: RestoreArguments,
    context: &Context,
) -> Result<Exit, Failure> {
    let RestoreArguments { copy, file } = arguments;
    let file = file_of(&file, context)?;
    let inbox = quoted(&file.display().to_string());
    let work = blocking(move || SqliteStore::restore(copy, file));
    let restored = context.output.during("restoring", work).await??;
    let is_whole = restored.unread.is_none() && !restored.was_in_use;
    let exit = if is_whole { Exit::Done } else { Exit::Failed };
    if !context.output.is_json() {
        for line in lines(&restored, &inbox) {
            context.output.line(&escape::line(&line))?;
        }
        return Ok(exit);
    }
    let Restored { backup: Backup { entries, jobs, bytes, .. }, .. } = restored;
    let value = json!({
        "entries": entries,
        "jobs": jobs,
        "bytes": bytes,
        "moved_to": restored.moved_to,
        "missing": restored.missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "unread": restored.unread,
        "was_in_use": restored.was_in_use,
    });
    context.output.json("restore", &value)?;
    Ok(exit)
}

fn content(backup: &Backup) -> String {
    let jobs = counted(backup.jobs, "job of the ledger", "jobs of the ledger");
    let bytes = counted(backup.bytes, "byte", "bytes");
    format!("{} and {jobs}: {bytes}", entries(backup.entries))
}

fn lines(restored: &Restored, inbox: &str) -> Vec<String> {
    let Restored { backup, moved_to, missing, unread, was_in_use, .. } = restored;
    // Its log may have been moved alone.
    let has_old = moved_to.as_ref().is_some_and(|moved_to| moved_to.exists());
    let moved_to = moved_to.as_ref().map(|moved_to| quoted(&moved_to.display().to_string()));
    let mut lines = vec![format!("restored {}", content(backup))];
    if let Some(moved_to) = &moved_to {
        lines.push(format!("the old files are kept: {moved_to}"));
    }
    if !missing.is_empty() {
        let jobs = counted(missing.len() as u64, "job has", "jobs have");
        lines.push(format!(
            "{jobs} an entry in the old file alone, and the ledger expects it: article-webhook collect --inbox {inbox}"
        ));
        lines.extend(missing.iter().take(MAX_NAMED).map(|job_id| format!("  {job_id}")));
        if missing.len() > MAX_NAMED {
            lines.push(
                "  and others: --json names all of them, and `inbox jobs` lists them".to_owned(),
            );
        }
    }
    match (unread, &moved_to) {
        (None, None) => {}
        (None, Some(moved_to)) => lines.push(format!(
            "to take over what the old file has, before the receiver starts: article-webhook inbox copy {moved_to} {inbox}"
        )),
        (Some(unread), Some(moved_to)) => lines.push(format!(
            "more may be missing, because {unread}: {}article-webhook inbox salvage {moved_to} NEW, then article-webhook inbox copy NEW \
             {inbox}, and fetch the jobs of that time from the API",
            if has_old { String::new() } else { format!("if you find it, move it to {moved_to}, then ") }
        )),
        (Some(unread), None) => lines.push(format!(
            "more may be missing, because {unread}: fetch the jobs of that time from the API"
        )),
    }
    if unread.is_some() || *was_in_use {
        lines.push(gaps(inbox));
    }
    if *was_in_use {
        lines.push(
            "the backup is a copy of a file in use, and lacks what was in its log: use `article-webhook inbox backup`, and fetch the jobs \
             of that time from the API"
                .to_owned(),
        );
    }
    lines
}
