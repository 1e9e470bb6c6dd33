use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Filter, Inbox, JobFilter, SqliteStore, store::Store};
use tempfile::TempDir;

use crate::{
    first_line,
    tool::{seen, tool},
};

/// The deliveries of each scene. The last of them are in the log alone.
pub(crate) const JOBS: usize = 20;

pub(crate) const ENDINGS: [&str; 4] = ["", "-wal", "-shm", "-lock"];

/// The files of a receiver that was killed after it had acknowledged some deliveries, and a backup.
pub(crate) struct Scene {
    folder: TempDir,
    pub(crate) file: PathBuf,
    pub(crate) backup: PathBuf,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let (used, file) = (path.join("used.db"), path.join("inbox.db"));
        let scene = Self { folder, file, backup: path.join("backup.db") };
        let inbox = Inbox::open(&used).await.unwrap();
        deliver(&inbox, 0..JOBS / 2).await;
        inbox.close().await.unwrap();
        copy(&used, &scene.backup);

        let inbox = Inbox::open(&used).await.unwrap();
        deliver(&inbox, JOBS / 2..JOBS).await;
        for ending in ENDINGS {
            copy(&path.join(format!("used.db{ending}")), &scene.beside(ending));
        }
        inbox.close().await.unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.file.with_file_name(name)
    }

    pub(crate) fn beside(&self, ending: &str) -> PathBuf {
        format!("{}{ending}", self.file.display()).into()
    }

    pub(crate) fn shown(&self) -> String {
        self.file.display().to_string()
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Why the inbox does not start. It says this much, which holds the steps.
    #[track_caller]
    pub(crate) fn refused(&self, steps: &str) -> String {
        let text = format!("{:?}", SqliteStore::open(&self.file).unwrap_err());
        assert!(text.contains(steps), "{text}");
        text
    }

    /// What this program says that is to receive, if it does not. With the arguments of the tool.
    pub(crate) fn refused_by(&self, program: &mut Command) -> Option<String> {
        let listen = ["listen", "--no-page", "--port", "0", "--inbox", &self.shown()];
        program.args(listen).env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (line, error) = first_line(program);
        line.is_empty().then_some(error)
    }

    /// The first step of most: move files away.
    pub(crate) fn move_away(&self, endings: &[&str]) {
        let away = self.path("away");
        fs::create_dir_all(&away).unwrap();
        for ending in endings {
            let from = self.beside(ending);
            if from.symlink_metadata().is_ok() {
                fs::rename(&from, away.join(from.file_name().unwrap())).unwrap();
            }
        }
    }

    /// A backup takes the place of the file, as several refusals say.
    pub(crate) async fn restore(&self, text: &str) {
        run_named(text, "inbox restore", &self.backup);
        assert!(stored(&self.file).await.is_superset(&jobs(JOBS / 2)));
    }
}

/// Runs the command that a text names in backticks, with this file in the place of NEW or BACKUP.
#[track_caller]
pub(crate) fn run_named(text: &str, command: &str, file: &Path) -> String {
    let (_, rest) = text.split_once(&format!("`article-webhook {command} ")).unwrap();
    let (arguments, _) = rest.split_once('`').unwrap();
    let file = file.to_str().unwrap();
    let arguments = arguments.replace("NEW", file).replace("BACKUP", file);
    let mut tool = tool([]);
    let output = tool.args(command.split(' ')).args(arguments.split(' ')).output().unwrap();
    let (exit, out, error) = seen(&output);
    assert!(matches!(exit, Some(0 | 1)), "{exit:?} {out} {error}");
    out
}

pub(crate) fn jobs(count: usize) -> BTreeSet<String> {
    (0..count).map(|job| format!("job_{job:02}")).collect()
}

pub(crate) async fn deliver(inbox: &Inbox, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let delivery = fixture::minimal().job_id(&format!("job_{number:02}")).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, Reply::Stored);
    }
}

/// The jobs whose articles a receiver finds that starts now.
pub(crate) async fn stored(file: &Path) -> BTreeSet<String> {
    let inbox = Inbox::open(file).await.unwrap();
    let entries = inbox.list(Filter { limit: 1000, ..Filter::default() }).await.unwrap().items;
    inbox.close().await.unwrap();
    entries.iter().map(|entry| entry.key.job_id.to_string()).collect()
}

/// The same, and the jobs that it will poll.
pub(crate) async fn stored_or_expected(file: &Path) -> BTreeSet<String> {
    let mut known = stored(file).await;
    let store = SqliteStore::open(file).unwrap();
    let filter = JobFilter { limit: 1000, ..JobFilter::default() };
    known.extend(store.jobs(filter).await.unwrap().items.iter().map(|job| job.job_id.to_string()));
    known
}

/// As an operator copies: another process, because closing a file of a database here would release the locks of SQLite.
pub(crate) fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").args([from, to]).status().unwrap().success());
}
