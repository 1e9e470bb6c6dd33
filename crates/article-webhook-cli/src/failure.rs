use std::{error::Error, fmt, io};

use crate::{exit::Exit, text::escape};

/// Why a command failed: what happened, why, and what mends it. It holds no secret.
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) what: String,
    pub(crate) cause: Option<String>,
    pub(crate) mend: Option<String>,
    /// The reader of standard output has ended, which is no failure worth a word.
    pub(crate) is_closed_pipe: bool,
}

impl Failure {
    fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), cause: None, mend: None, is_closed_pipe: false }
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

    /// Adds the command or the change that mends it.
    pub(crate) fn mend(self, mend: impl Into<String>) -> Self {
        Self { mend: Some(mend.into()), ..self }
    }

    /// Adds why.
    pub(crate) fn because(self, cause: &dyn Error) -> Self {
        Self { what: self.text(), cause: Some(causes(cause)), ..self }
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

    /// A failed write to standard output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        let is_closed_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { is_closed_pipe, ..Self::failed("cannot write the output").because(error) }
    }

    /// A failure of the service, or of the way to it.
    pub(crate) fn of_service(error: &article_client::Error) -> Self {
        use article_client::Outcome;

        let what = causes(error);
        let failure = match error.response() {
            Some(_) => Self::new(Exit::Refused, what),
            None => Self::failed(what),
        };
        if error.is_outcome_unknown() {
            let mend = "look whether the article was ordered before you order it again; an order with --intent and \
                        --inbox is remembered";
            return failure.mend(mend);
        }
        if let Some(url) = error.upgrade_url() {
            return failure.mend(format!("get more credits: {url}"));
        }
        match error.response().map(|response| &response.outcome) {
            Some(Outcome::Unauthorized) => {
                failure.mend("set ARTICLE_API_KEY to the key that the service issued for this URL")
            }
            Some(Outcome::NotFound | Outcome::Page | Outcome::Redirect) => {
                failure.mend("check --api-url or ARTICLE_API_URL: the part of the URL before /v1")
            }
            Some(Outcome::RateLimited) => match error.retry_after() {
                Some(pause) => {
                    failure.mend(format!("try again in {}", crate::text::moment::span(pause)))
                }
                None => failure.mend("try again later"),
            },
            Some(Outcome::JobNotFound) => {
                failure.mend("check the job id, and that the key is the one that ordered it")
            }
            Some(_) => failure,
            None if error.is_transient() => {
                failure.mend("check --api-url or ARTICLE_API_URL, and try again")
            }
            None => failure,
        }
    }
}

/// A failure of an inbox. Its text says what to do.
impl From<article_inbox::Error> for Failure {
    fn from(error: article_inbox::Error) -> Self {
        let exit = if error.is_invalid() { Exit::Failed } else { Exit::Store };
        let cause = error.source().map(causes);
        Self { cause, ..Self::new(exit, error.to_string()) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::line(&self.text()))
    }
}

/// An error with its causes. A cause that the text already ends with is left out.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}
