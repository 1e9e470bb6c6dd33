use std::{fmt, str};

use super::TokenError;

/// The longest token, in bytes.
pub(super) const CAPACITY: usize = 4096;

/// Scheme words that are recognised.
const SCHEMES: [&str; 6] = ["Bearer", "Basic", "Token", "ApiKey", "Digest", "OAuth"];

/// What template engines and forms leave in place of a token that was not filled in.
const PLACEHOLDERS: [&str; 4] = ["<AUTH_TOKEN>", "undefined", "null", "changeme"];

/// What can be said of a token, or of a value that was presented as one, without any byte of its secret and
/// without its length. `Display` is for the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenShape {
    Empty,
    OnlyWhiteSpace,
    SchemeOnly { scheme: &'static str },
    DoubledScheme { scheme: &'static str },
    SchemeWithColon { scheme: &'static str },
    HeaderName,
    SurroundingWhiteSpace,
    ForbiddenCharacter,
    Quoted,
    Placeholder { placeholder: &'static str },
    TooLong,
    Legal { scheme: Scheme, secret: Secret },
}

/// The word before the first space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    None,
    Known(&'static str),
    KnownInOtherCase(&'static str),
    Unknown,
}

/// What follows the scheme word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    Plain,
    Quoted,
    AfterManySpaces,
}

impl TokenShape {
    /// The shape of a presented value. The time this takes depends on that value alone, and is bounded.
    pub(crate) fn of_presented(value: &[u8]) -> Self {
        if value.len() > CAPACITY {
            return Self::TooLong;
        }
        str::from_utf8(value).map_or(Self::ForbiddenCharacter, Self::of)
    }

    pub(super) fn of(token: &str) -> Self {
        let mut words = token.split_whitespace();
        let Some(first) = words.next() else {
            return if token.is_empty() { Self::Empty } else { Self::OnlyWhiteSpace };
        };
        if let Some(scheme) = known(first) {
            match words.next() {
                None => return Self::SchemeOnly { scheme },
                Some(second) if known(second) == Some(scheme) => {
                    return Self::DoubledScheme { scheme };
                }
                Some(_) => {}
            }
        }
        if token.trim() != token {
            return Self::SurroundingWhiteSpace;
        }
        if !token.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Self::ForbiddenCharacter;
        }
        if is_quoted(token) {
            return Self::Quoted;
        }
        if token.get(..14).is_some_and(|start| start.eq_ignore_ascii_case("authorization:")) {
            return Self::HeaderName;
        }
        let before_colon = token.split_once(':').and_then(|(word, _)| known(word));
        if let Some(scheme) = before_colon {
            return Self::SchemeWithColon { scheme };
        }
        let (word, rest) =
            token.split_once(' ').map_or((None, token), |(word, rest)| (Some(word), rest));
        let secret = rest.trim_start();
        let is_placeholder = |placeholder: &&str| placeholder.eq_ignore_ascii_case(secret);
        if let Some(placeholder) = PLACEHOLDERS.into_iter().find(is_placeholder) {
            return Self::Placeholder { placeholder };
        }
        // A file of variables is not read by a shell, which would have run the command.
        if secret.starts_with("$(") {
            return Self::Placeholder { placeholder: "$(…)" };
        }
        if token.len() > CAPACITY {
            return Self::TooLong;
        }
        let scheme = match word.map(|word| (word, known(word))) {
            None => Scheme::None,
            Some((_, None)) => Scheme::Unknown,
            Some((word, Some(scheme))) if word == scheme => Scheme::Known(scheme),
            Some((_, Some(scheme))) => Scheme::KnownInOtherCase(scheme),
        };
        let secret = match () {
            () if secret.len() < rest.len() => Secret::AfterManySpaces,
            () if is_quoted(secret) => Secret::Quoted,
            () => Secret::Plain,
        };
        Self::Legal { scheme, secret }
    }

    /// Why this is not the shape of a token.
    pub(super) fn error(self) -> Option<TokenError> {
        Some(match self {
            Self::Empty => TokenError::Empty,
            Self::OnlyWhiteSpace => TokenError::OnlyWhiteSpace,
            Self::SchemeOnly { scheme } => TokenError::SchemeOnly { scheme },
            Self::DoubledScheme { scheme } => TokenError::DoubledScheme { scheme },
            Self::SchemeWithColon { scheme } => TokenError::SchemeWithColon { scheme },
            Self::HeaderName => TokenError::HeaderName,
            Self::SurroundingWhiteSpace => TokenError::SurroundingWhiteSpace,
            Self::ForbiddenCharacter => TokenError::ForbiddenCharacter,
            Self::Quoted => TokenError::Quoted,
            Self::Placeholder { placeholder } => TokenError::Placeholder { placeholder },
            Self::TooLong => TokenError::TooLong,
            Self::Legal { .. } => return None,
        })
    }

    /// Why the service will probably not send a token of this shape, although it could.
    pub(super) fn warning(self) -> Option<&'static str> {
        match self {
            Self::Legal { scheme: Scheme::None, .. } => Some(
                "the token has no scheme word: is it the publish target's whole auth_token, as in `Bearer <token>`?",
            ),
            Self::Legal { secret: Secret::Quoted, .. } => Some(
                "the token's secret is in quotation marks, which are part of it: does the publish target's auth_token have them?",
            ),
            _ => None,
        }
    }
}

fn known(word: &str) -> Option<&'static str> {
    SCHEMES.into_iter().find(|scheme| scheme.eq_ignore_ascii_case(word))
}

/// Shells and templates remove quotation marks, and some readers of environment files do not.
fn is_quoted(text: &str) -> bool {
    text.len() > 1
        && ['"', '\'', '`'].iter().any(|&mark| text.starts_with(mark) && text.ends_with(mark))
}

impl fmt::Display for TokenShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an empty value"),
            Self::OnlyWhiteSpace => f.write_str("only white space"),
            Self::SchemeOnly { scheme } => write!(f, "`{scheme}` and no secret"),
            Self::DoubledScheme { scheme } => write!(f, "`{scheme}` twice"),
            Self::SchemeWithColon { scheme } => write!(f, "`{scheme}` and a colon"),
            Self::HeaderName => f.write_str("`Authorization:` inside the value"),
            Self::SurroundingWhiteSpace => f.write_str("a value with white space around it"),
            Self::ForbiddenCharacter => f.write_str("a control or a non-ASCII character"),
            Self::Quoted => f.write_str("a value in quotation marks"),
            Self::Placeholder { placeholder } => write!(f, "the placeholder `{placeholder}`"),
            Self::TooLong => f.write_str("more than any token may have"),
            Self::Legal { scheme, secret } => {
                match scheme {
                    Scheme::None => f.write_str("one word and no scheme word")?,
                    Scheme::Known(scheme) => write!(f, "`{scheme}` and a secret")?,
                    Scheme::KnownInOtherCase(scheme) => {
                        write!(f, "`{scheme}` in other letter case, and a secret")?;
                    }
                    Scheme::Unknown => f.write_str("some scheme word and a secret")?,
                }
                f.write_str(match secret {
                    Secret::Plain => "",
                    Secret::Quoted => " in quotation marks",
                    Secret::AfterManySpaces => " after several spaces",
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_says_what_is_unusual_and_nothing_of_the_secret() {
        for (value, shape) in [
            ("", "an empty value"),
            ("  ", "only white space"),
            ("Bearer s3cret", "`Bearer` and a secret"),
            ("bearer s3cret", "`Bearer` in other letter case, and a secret"),
            ("Bearer  s3cret", "`Bearer` and a secret after several spaces"),
            ("Bearer 's3cret'", "`Bearer` and a secret in quotation marks"),
            ("Bearer '", "`Bearer` and a secret"),
            ("Custom s3cret", "some scheme word and a secret"),
            ("s3cret", "one word and no scheme word"),
            ("'Bearer s3cret'", "a value in quotation marks"),
            ("authorization: Bearer s3cret", "`Authorization:` inside the value"),
            ("Bearer", "`Bearer` and no secret"),
            ("Bearer bearer s3cret", "`Bearer` twice"),
            ("Bearer: s3cret", "`Bearer` and a colon"),
            (" Bearer s3cret", "a value with white space around it"),
            ("Bearer s3cr\u{e9}t", "a control or a non-ASCII character"),
            ("Bearer undefined", "the placeholder `undefined`"),
            ("Bearer $(openssl rand -hex 24)", "the placeholder `$(…)`"),
        ] {
            assert_eq!(TokenShape::of_presented(value.as_bytes()).to_string(), shape, "{value:?}");
        }
        let latin_1 = TokenShape::of_presented(b"Bearer s3cr\xe9t");
        assert_eq!(latin_1, TokenShape::ForbiddenCharacter);
        assert_eq!(TokenShape::of_presented(&[b' '; CAPACITY]), TokenShape::OnlyWhiteSpace);
        assert_eq!(TokenShape::of_presented(&[b' '; CAPACITY + 1]), TokenShape::TooLong);
    }
}
