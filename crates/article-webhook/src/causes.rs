//! The text of an error with its sources.

use std::{error::Error, fmt};

/// Shows an error and its sources in one line, separated by `: `. A source that the error before it has
/// shown already is left out.
///
/// ```
/// use std::{fmt, io};
/// use article_webhook::adapter::Causes;
///
/// #[derive(Debug)]
/// struct Unsaved(io::Error);
///
/// impl fmt::Display for Unsaved {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("the article is not saved")
///     }
/// }
///
/// impl std::error::Error for Unsaved {
///     fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
///         Some(&self.0)
///     }
/// }
///
/// let error = Unsaved(io::Error::other("the disk is full"));
/// assert_eq!(Causes::of(&error).to_string(), "the article is not saved: the disk is full");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Causes<'a>(&'a (dyn Error + 'a));

impl<'a> Causes<'a> {
    /// The text of `error` and of its sources.
    #[must_use]
    pub fn of(error: &'a (dyn Error + 'a)) -> Self {
        Self(error)
    }
}

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.to_string();
        f.write_str(&shown)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !shown.ends_with(&text) {
                write!(f, ": {text}")?;
                shown = text;
            }
            source = cause.source();
        }
        Ok(())
    }
}

/// How many bytes of a cause are logged.
const LONGEST: usize = 1000;

/// The text of an error of the application or of the service, for the field `cause` of a log event and for nothing else:
/// a log that must not have such errors leaves that field out. Control characters are escaped. A text of more than
/// 1,000 bytes is cut there, and ends with `…`.
///
/// ```
/// use article_webhook::adapter::logged_cause;
///
/// assert_eq!(logged_cause(&"the disk is full\n"), r"the disk is full\n");
/// ```
pub fn logged_cause(error: &dyn fmt::Display) -> String {
    escaped(&error.to_string(), LONGEST)
}

/// The text without control characters, for the log. It is cut at `limit` bytes, and ends with `…` then.
pub(crate) fn escaped(text: &str, limit: usize) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        let start = escaped.len();
        // Quotation marks stay as they are.
        match letter {
            '"' | '\'' | '\\' => escaped.push(letter),
            _ => escaped.extend(letter.escape_debug()),
        }
        if escaped.len() > limit {
            escaped.truncate(start);
            escaped.push('…');
            break;
        }
    }
    escaped
}

/// `Debug` of an error is its text with its causes: `main` shows an error that it returns by `Debug`.
macro_rules! debug_as_text {
    ($($error:ty),*) => {
        $(impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&$crate::causes::Causes::of(self), f)
            }
        })*
    };
}

pub(crate) use debug_as_text;

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::{
        ArticleResult, AuthToken, JobId, Receiver, TokenError,
        adapter::BodyError,
        answer::{Refused, Rejection, UnreadBody},
    };

    #[test]
    fn what_main_shows_of_an_error_is_its_text() {
        let token = || AuthToken::new("Bearer 5f2b9c0e7a1d4e38").unwrap();
        let errors: Vec<Box<dyn Error>> = vec![
            Box::new(AuthToken::from_env("NO_SUCH_VARIABLE").unwrap_err()),
            Box::new(Receiver::builder(token()).body_limit(0).build().unwrap_err()),
            Box::new("two words".parse::<JobId>().unwrap_err()),
            Box::new(ArticleResult::from_json(b"{").unwrap_err()),
            Box::new(BodyError::Incomplete),
            Box::new(Rejection::AuthorizationMissing),
            Box::new(Refused::new(Rejection::ContentTypeMissing, None, UnreadBody::None)),
            #[cfg(feature = "capability")]
            Box::new(crate::CapabilityKey::new(b"short").unwrap_err()),
        ];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
            assert!(error.to_string().contains(' '), "{error}");
        }
    }

    #[test]
    fn a_logged_cause_is_one_line_of_bounded_length() {
        assert_eq!(logged_cause(&"\u{1b}[2Ja \"b\" \\"), "\\u{1b}[2Ja \"b\" \\");
        assert_eq!(logged_cause(&"é".repeat(500)), "é".repeat(500));
        assert_eq!(logged_cause(&"é".repeat(501)), "é".repeat(500) + "…");
    }

    #[test]
    fn a_cause_is_shown_once() {
        let path = "token".to_owned();
        let unreadable =
            TokenError::Unreadable { path, source: io::Error::other("it is a folder") };
        assert_eq!(
            format!("{unreadable:?}"),
            "the token file token cannot be read: it is a folder"
        );
        let repeated =
            io::Error::other(Rejection::Undecodable(ArticleResult::from_json(b"{").unwrap_err()));
        assert_eq!(Causes::of(&repeated).to_string(), repeated.to_string());
    }
}
