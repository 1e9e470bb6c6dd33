use std::{
    ffi::OsString,
    fmt,
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use article_webhook_inbox::{Error, Inbox, SqliteSettings, SqliteStore};
use clap::Args;
use percent_encoding::percent_decode_str;

use super::blocking;
#[cfg(feature = "postgres")]
use super::database::Database;
use crate::{failure::Failure, output::Output, secrets, settings::Environment, text::escape};

/// An inbox on the command line: its file, the URL of a PostgreSQL database, or `env:NAME` for a variable that has either.
#[derive(Clone)]
pub(crate) struct InboxArgument(OsString);

impl From<OsString> for InboxArgument {
    fn from(argument: OsString) -> Self {
        Self(argument)
    }
}

impl InboxArgument {
    /// What ARTICLE_INBOX has.
    pub(crate) fn of_environment(environment: &Environment) -> Option<Self> {
        environment.get("ARTICLE_INBOX").map(|_| Self("env:ARTICLE_INBOX".into()))
    }

    /// Where it is. A URL with a password is refused: other users of the machine can read the arguments.
    pub(crate) fn place(&self, environment: &Environment) -> Result<Place, Failure> {
        let Some(argument) = self.0.to_str() else { return Ok(Place::file(Path::new(&self.0))) };
        let Some(name) = argument.strip_prefix("env:") else {
            if is_url(argument) && has_password(argument) {
                return Err(Failure::usage(
                    "the URL of the inbox has a password, which other users of this machine can read in an argument",
                )
                .fix("set a variable to the URL, such as DATABASE_URL, also in a file for --env-file, and write env:DATABASE_URL"));
            }
            return Ok(Place { shown: argument.to_owned(), at: At::of(argument)? });
        };
        if !is_variable(name) {
            // It may be a URL with a password, so it is not repeated.
            return Err(Failure::usage("what follows env: is not the name of a variable")
                .fix("write env:DATABASE_URL, and set DATABASE_URL to the inbox"));
        }
        let value = environment.get(name).inspect(|value| secrets::note_password(value));
        let value = value.ok_or_else(|| {
            Failure::usage(format!("{name} is not set, or is empty"))
                .fix("set it to the inbox: its file, or the URL of a PostgreSQL database")
        })?;
        Ok(Place { shown: argument.to_owned(), at: At::of(&value)? })
    }
}

/// The inbox of a command that is about inboxes: its first word.
#[derive(Debug, Args)]
pub(crate) struct InboxWord {
    /// The inbox: a file, a PostgreSQL URL, or env:NAME for a variable with one of them [default: the inbox in ARTICLE_INBOX, or else
    /// inbox.db]
    #[arg(value_name = "INBOX")]
    inbox: Option<InboxArgument>,
}

impl InboxWord {
    /// The word, which is another one where no inbox is named.
    pub(crate) fn take(&mut self) -> Option<OsString> {
        self.inbox.take().map(|inbox| inbox.0)
    }

    pub(crate) fn place(&self, environment: &Environment) -> Result<Place, Failure> {
        place(self.inbox.as_ref(), environment)
    }
}

/// The inbox of any other command.
#[derive(Debug, Args)]
pub(crate) struct InboxOption {
    /// The inbox: a file, a PostgreSQL URL, or env:NAME for a variable with one of them [default: the inbox in ARTICLE_INBOX, or else
    /// inbox.db]
    #[arg(long, value_name = "INBOX")]
    inbox: Option<InboxArgument>,
}

impl InboxOption {
    pub(crate) fn place(&self, environment: &Environment) -> Result<Place, Failure> {
        place(self.inbox.as_ref(), environment)
    }
}

fn place(named: Option<&InboxArgument>, environment: &Environment) -> Result<Place, Failure> {
    let default = InboxArgument::of_environment(environment);
    let default = default.unwrap_or_else(|| InboxArgument("inbox.db".into()));
    named.unwrap_or(&default).place(environment)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Shows nothing, because it may have a password.
impl fmt::Debug for InboxArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboxArgument").finish_non_exhaustive()
    }
}

/// Where an inbox is.
pub(crate) struct Place {
    shown: String,
    pub(crate) at: At,
}

pub(crate) enum At {
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(Database),
}

impl At {
    fn of(text: &str) -> Result<Self, Failure> {
        if !is_url(text) {
            return match is_of_another_kind(text) {
                true => Err(Failure::usage("the inbox is neither a file nor a PostgreSQL URL")
                    .fix("name a file, or write postgresql://USER@HOST:PORT/DATABASE")),
                false if text.is_empty() => Err(Failure::usage("the inbox has no name").fix(
                    "name a file, a PostgreSQL URL, or env:NAME for a variable with one of them",
                )),
                false => Ok(Self::File(text.into())),
            };
        }
        #[cfg(feature = "postgres")]
        return Ok(Self::Postgres(Database::new(text)?));
        #[cfg(not(feature = "postgres"))]
        Err(Failure::usage("PostgreSQL is not built into this tool")
            .fix("build it with the feature `postgres`, or name the file of an inbox"))
    }
}

impl Place {
    pub(crate) fn file(path: &Path) -> Self {
        Self { shown: path.display().to_string(), at: At::File(path.to_owned()) }
    }

    /// As it stands on the command line. It has no password, and is not escaped.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.at, At::File(_))
    }

    /// Makes the inbox if nothing shows that there was one, and says so.
    pub(crate) async fn make_if_missing(&self, output: &Output) -> Result<(), Failure> {
        let is_missing = match &self.at {
            At::File(path) => !path.exists() && !lock_of(path).exists(),
            #[cfg(feature = "postgres")]
            At::Postgres(database) => {
                let inboxes = database.inboxes().await?;
                !inboxes.is_here && inboxes.elsewhere.is_empty()
            }
        };
        if is_missing {
            self.exclusive().await?.close().await?;
            output.note(&format!("made the inbox {}", escape::line(&self.shown)));
        }
        Ok(())
    }

    /// Opens an inbox beside the receivers that work on it, if there are any. It never makes one.
    pub(crate) async fn shared(&self) -> Result<Inbox, Failure> {
        match &self.at {
            At::File(path) => Ok(Inbox::new(shared_file(path).await?)),
            #[cfg(feature = "postgres")]
            At::Postgres(database) => database.existing().await,
        }
    }

    /// Opens an inbox to read it. In a database, the right to read is enough.
    pub(crate) async fn read(&self) -> Result<Inbox, Failure> {
        match &self.at {
            At::File(_) => self.shared().await,
            #[cfg(feature = "postgres")]
            At::Postgres(database) => database.read().await,
        }
    }

    /// Whether another process works on the inbox and excludes this one. A database takes any number.
    pub(crate) fn is_worked_on(&self) -> bool {
        match &self.at {
            At::File(path) => has_the_lock(path),
            #[cfg(feature = "postgres")]
            At::Postgres(_) => false,
        }
    }

    /// Whether another process may work on the inbox beside this one, and has done so: a database that has an inbox.
    pub(crate) async fn may_have_workers_beside(&self) -> Result<bool, Failure> {
        match &self.at {
            At::File(_) => Ok(false),
            #[cfg(feature = "postgres")]
            At::Postgres(database) => Ok(database.inboxes().await?.is_here),
        }
    }

    /// Opens an inbox to work on it, or makes it. No other process may work on a file.
    pub(crate) async fn exclusive(&self) -> Result<Inbox, Failure> {
        self.exclusive_after(Duration::ZERO).await
    }

    /// The same, and waits this long for another process to end. The inbox is returned before it is open.
    pub(crate) async fn exclusive_after(&self, wait: Duration) -> Result<Inbox, Failure> {
        match &self.at {
            At::File(path) => {
                let path = path.clone();
                let settings = SqliteSettings::default().wait_for_lock(wait);
                Ok(Inbox::new(blocking(move || SqliteStore::open_with(path, settings)).await??))
            }
            #[cfg(feature = "postgres")]
            At::Postgres(database) => database.open().await,
        }
    }
}

/// The store of an inbox in a file, beside the receiver that works on it.
pub(crate) async fn shared_file(path: &Path) -> Result<SqliteStore, Failure> {
    let named = path.to_owned();
    let opened = blocking(move || SqliteStore::open_shared(named)).await?;
    opened.map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: Error) -> Failure {
    let failure = Failure::from(error);
    if path.exists() { failure } else { failure.fix(fix_of_missing(path)) }
}

/// What is to be done about a file that does not exist.
pub(crate) fn fix_of_missing(path: &Path) -> &'static str {
    match lock_of(path).exists() {
        true => "put it back: its lock file shows that a receiver has used it",
        false => "check the path; the receiver creates the file when it starts",
    }
}

fn lock_of(path: &Path) -> PathBuf {
    let mut lock = path.as_os_str().to_owned();
    lock.push("-lock");
    lock.into()
}

fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Whether a text that is no such URL is one of another kind, one that is mistyped, or what libpq reads instead of a URL. It is no
/// file, and may have a password.
fn is_of_another_kind(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_mistyped = text.starts_with("postgres") && text.contains('@');
    is_mistyped || text.contains("://") || text.contains("password=")
}

fn has_password(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let in_front = rest.split_once('@').is_some_and(|(before, _)| before.contains(':'));
    in_front || parameters(url).any(|parameter| name(parameter) == "password")
}

/// What follows the question mark.
pub(super) fn parameters(url: &str) -> impl Iterator<Item = &str> {
    let (_, parameters) = url.split_once('?').unwrap_or_default();
    parameters.split('&').filter(|parameter| !parameter.is_empty())
}

pub(super) fn name(parameter: &str) -> String {
    let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

/// Whether another process has the lock beside the file, which a receiver and a worker hold.
fn has_the_lock(path: &Path) -> bool {
    File::open(lock_of(path))
        .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// What a command that changes nothing may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It tries what a receiver does, or has buttons.
    Full,
    ReadOnly,
}

impl Access {
    pub(crate) async fn open(self, place: &Place) -> Result<Inbox, Failure> {
        match self {
            Self::Full => place.shared().await,
            Self::ReadOnly => place.read().await,
        }
    }
}
