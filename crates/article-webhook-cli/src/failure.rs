use std::{error::Error, fmt, io, path::Path, process::ExitCode};

use article_webhook::adapter::Causes;
use serde::Serialize;

use crate::text::escape;

/// Why a command failed: what happened, why, and what fixes it. It holds no secret.
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) what: String,
    pub(crate) cause: Option<String>,
    pub(crate) fix: Option<String>,
    /// The reader of standard output has ended, which is no failure worth a word.
    pub(crate) is_closed_pipe: bool,
}

/// What fixes a failure of which nothing else is known.
const AGAIN: &str = "try again; if it fails again, report it with what it printed";

/// The same for a wrong argument or setting.
pub(crate) const SEE_HELP: &str = "add --help to see what the command takes";

impl Failure {
    fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), cause: None, fix: None, is_closed_pipe: false }
    }

    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self::new(Exit::Failed, what)
    }

    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    pub(crate) fn nothing_matched(what: impl Into<String>) -> Self {
        Self::new(Exit::NothingMatched, what)
    }

    /// A wrong setting. The text of most ends with what fixes them, after a colon.
    pub(crate) fn of_setting(text: &str, otherwise: &str) -> Self {
        let (what, fix) = text.rsplit_once(": ").unwrap_or((text, otherwise));
        Self::usage(what).fix(fix)
    }

    /// A file that cannot be read.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Self {
        Self::usage(format!("{} cannot be read", path.display())).because(error)
    }

    /// Adds the command or the change that fixes it.
    pub(crate) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    /// Adds why.
    pub(crate) fn because(self, cause: &dyn Error) -> Self {
        Self { what: self.text(), cause: Some(Causes::of(cause).to_string()), ..self }
    }

    /// Puts what was done before it in front.
    pub(crate) fn after(self, before: &str) -> Self {
        Self { what: format!("{before}: {}", self.what), ..self }
    }

    /// What fixes it. It is not escaped.
    pub(crate) fn fix_text(&self) -> &str {
        self.fix.as_deref().unwrap_or(match self.exit {
            Exit::Done | Exit::Failed => AGAIN,
            Exit::Usage | Exit::NothingMatched => SEE_HELP,
            Exit::Refused => "correct what the service names, or try again later",
            Exit::Store => "see what is wrong with it: article-webhook doctor --inbox INBOX",
        })
    }

    /// What happened, and why. It is not escaped.
    pub(crate) fn text(&self) -> String {
        match &self.cause {
            Some(cause) if !self.what.ends_with(cause) => format!("{}: {cause}", self.what),
            _ => self.what.clone(),
        }
    }

    /// The reader of standard output has ended.
    pub(crate) fn of_closed_pipe() -> Self {
        Self::of_output(&io::ErrorKind::BrokenPipe.into())
    }

    /// The system gives the program no thread, or nothing that one needs.
    pub(crate) fn of_threads(error: &io::Error) -> Self {
        Self::failed("cannot start threads")
            .because(error)
            .fix("raise the limits of threads and of open files")
    }

    /// A failed write to standard output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        let is_closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        let failure = Self::failed("cannot write the output")
            .because(error)
            .fix("make room for the output; if the command changes something, see first whether it is done");
        Self { is_closed_pipe, ..failure }
    }

    /// A failure of the service, or of the way to it.
    pub(crate) fn of_service(error: &article_webhook_client::Error) -> Self {
        use article_webhook_client::{CallOutcome, ErrorCode};

        let what = Causes::of(error).to_string();
        let failure = match error.response() {
            Some(_) => Self::new(Exit::Refused, what),
            None => Self::failed(what),
        };
        if error.is_outcome_unknown() {
            let fix = "look whether the article was ordered before you order it again; an order with --intent is \
                        remembered";
            return failure.fix(fix);
        }
        if let Some(url) = error.upgrade_url() {
            return failure.fix(format!("get more credits: {url}"));
        }
        match error.response().map(|response| &response.outcome) {
            Some(CallOutcome::Unauthorized) => {
                failure.fix("give the key that the service issued for this URL")
            }
            Some(CallOutcome::NotFound | CallOutcome::Page | CallOutcome::Redirect) => {
                failure.fix("check --api-url or ARTICLE_API_URL: the part of the URL before /v1")
            }
            Some(CallOutcome::RateLimited) => match error.retry_after() {
                Some(pause) => {
                    failure.fix(format!("try again in {}", crate::text::moment::span(pause)))
                }
                None => failure.fix("try again later"),
            },
            Some(_) if error.code() == Some(&ErrorCode::NotConfigured) => {
                failure.fix("configure the brand first: article-webhook brand FILE")
            }
            Some(CallOutcome::Failed { .. } | CallOutcome::FailedState { .. }) => failure
                .fix("find out at the service why the job failed, and order the article again"),
            Some(CallOutcome::JobNotFound) => {
                failure.fix("check the job id, and that the key is the one that ordered the job")
            }
            Some(_) => failure,
            None if error.is_transient() => {
                failure.fix("check --api-url or ARTICLE_API_URL, and try again")
            }
            None => failure,
        }
    }
}

/// A failure of an inbox. The text of one that an operator must fix ends with what fixes it, after a colon.
impl From<article_webhook_inbox::Error> for Failure {
    fn from(error: article_webhook_inbox::Error) -> Self {
        let exit = if error.is_invalid() { Exit::Failed } else { Exit::Store };
        let cause = error.source().map(|cause| Causes::of(cause).to_string());
        let text = error.to_string();
        match text.rsplit_once(": ") {
            Some((what, fix)) if !error.is_invalid() => {
                Self { cause, ..Self::new(exit, what) }.fix(fix)
            }
            _ => Self { cause, ..Self::new(exit, text) },
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::line(&self.text()))
    }
}

/// How a command ended. These numbers are documented in the help and in the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    NothingMatched = 3,
    Refused = 4,
    Store = 5,
}

/// What `--help` says about them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  failed, was interrupted, or found something wrong
  2  the command line or a setting is wrong
  3  nothing matched
  4  the service refused
  5  the inbox cannot be used";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
