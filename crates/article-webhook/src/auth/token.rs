use std::{env, fmt, fs, path::Path};

use zeroize::Zeroizing;

use super::{TokenError, token_shape::TokenShape};

/// Below this many bytes after the scheme word, a token can be guessed.
const SHORT: usize = 16;

/// The secret that authenticates the service: a publish target's `auth_token`.
///
/// It is the whole value of the `Authorization` header, scheme word included, exactly as it was given to the
/// service (service document, sections 2.2 and 5): at most 4,096 bytes of printable ASCII. An invalid token is
/// refused when it is built, not when it is compared.
///
/// A token is never shown: it has no `Display`, no `Serialize` and no `PartialEq`, its `Debug` is
/// redacted, and its memory is zeroed on drop. [`expose_secret`](Self::expose_secret) is the only way to its text.
///
/// ```
/// use article_webhook::{AuthToken, TokenError};
///
/// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
/// assert_eq!(format!("{token:?}"), "AuthToken(redacted)");
///
/// assert!(matches!(AuthToken::new("Bearer "), Err(TokenError::SchemeOnly { .. })));
/// assert!(matches!(AuthToken::new("Bearer <AUTH_TOKEN>"), Err(TokenError::Placeholder { .. })));
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone)]
pub struct AuthToken {
    secret: Zeroizing<Box<str>>,
    shape: TokenShape,
}

impl AuthToken {
    /// The token as configured at the service.
    ///
    /// # Errors
    ///
    /// A [`TokenError`] for every invalid value: empty, only white space, a scheme word and nothing else, a
    /// doubled scheme word or one with a colon, white space at either end, control or non-ASCII characters,
    /// quotation marks around the whole, `Authorization:` in front, a placeholder, or more than 4,096 bytes.
    ///
    /// A token without a scheme word, or with a secret in quotation marks, is unusual but may be right. With the
    /// feature `tracing` the receiver warns about it.
    pub fn new(token: &str) -> Result<Self, TokenError> {
        let shape = TokenShape::of(token);
        if let Some(error) = shape.error() {
            return Err(error);
        }
        Ok(Self { secret: Zeroizing::new(token.into()), shape })
    }

    /// Reads the token from the environment variable `name`.
    ///
    /// # Errors
    ///
    /// The variable is not set ([`TokenError::NotSet`]), is not Unicode ([`TokenError::NotUnicode`]), or holds what
    /// [`AuthToken::new`] refuses ([`TokenError::InVariable`]). Each message names the variable.
    pub fn from_env(name: &str) -> Result<Self, TokenError> {
        let token = env::var(name).map_err(|error| match error {
            env::VarError::NotPresent => TokenError::NotSet { name: name.into() },
            env::VarError::NotUnicode(_) => TokenError::NotUnicode { name: name.into() },
        })?;
        Self::new(&Zeroizing::new(token))
            .map_err(|error| TokenError::InVariable { name: name.into(), error: Box::new(error) })
    }

    /// Reads the token from a file, such as a mounted secret. One trailing newline is not part of it.
    ///
    /// # Errors
    ///
    /// [`TokenError::Unreadable`] names the file; otherwise as [`AuthToken::new`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, TokenError> {
        let path = path.as_ref();
        let unreadable =
            |source| TokenError::Unreadable { path: path.display().to_string(), source };
        let content = Zeroizing::new(fs::read(path).map_err(unreadable)?);
        let line = content.strip_suffix(b"\n").unwrap_or(&content);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // The error of `from_utf8` is dropped: it would say how much of the file was read.
        Self::new(std::str::from_utf8(line).map_err(|_| TokenError::ForbiddenCharacter)?)
    }

    /// Whether the token is so short (under 16 bytes after the scheme word) that it can be guessed.
    ///
    /// Short tokens are allowed, because the service may have issued one; with the feature
    /// `tracing` the receiver warns about them.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let secret = self.secret.split_once(' ').map_or(&**self.secret, |(_scheme, secret)| secret);
        secret.len() < SHORT
    }

    /// Why the service will probably not send this token, although it could: it has no scheme word, or its secret is in
    /// quotation marks.
    ///
    /// ```
    /// use article_webhook::AuthToken;
    ///
    /// assert_eq!(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?.warning(), None);
    /// assert!(AuthToken::new("5f2b9c0e7a1d4e38")?.warning().unwrap().starts_with("the token has no scheme word"));
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        self.shape.warning()
    }

    /// What the log may say of it.
    #[cfg(feature = "tracing")]
    pub(crate) fn shape(&self) -> TokenShape {
        self.shape
    }

    /// The text of the token, to configure it at the service. Do not compare it and do not log it: the
    /// [`Receiver`](crate::Receiver) compares tokens in constant time.
    ///
    /// ```
    /// use article_webhook::AuthToken;
    ///
    /// let token = AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?;
    /// assert_eq!(token.expose_secret(), "Bearer 5f2b9c0e7a1d4e38");
    /// # Ok::<(), article_webhook::TokenError>(())
    /// ```
    #[must_use]
    pub fn expose_secret(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for AuthToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuthToken(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_short_under_sixteen_bytes_after_its_scheme_word() {
        let is_short = |token: &str| AuthToken::new(token).unwrap().is_short();
        for (token, short) in [
            ("123456789012345", true),
            ("1234567890123456", false),
            ("Bearer 123456789012345", true),
            ("Bearer 1234567890123456", false),
            ("Bearer 1234567 90123456", false),
        ] {
            assert_eq!(is_short(token), short, "{token}");
        }
    }

    #[test]
    fn what_a_refusal_says_to_give_or_to_remove_makes_a_token() {
        for (wrong, right) in [
            ("", "x"),
            (" \t", "x"),
            ("Bearer", "Bearer x"),
            ("Basic", "Basic x"),
            ("bearer BEARER x", "Bearer x"),
            ("bearer: x", "Bearer x"),
            (" Bearer x\n", "Bearer x"),
            ("\"Bearer x\"", "Bearer x"),
            ("AUTHORIZATION: Bearer x", "Bearer x"),
            ("Bearer <auth_token>", "Bearer x"),
        ] {
            assert!(AuthToken::new(wrong).is_err(), "{wrong}");
            assert_eq!(AuthToken::new(right).unwrap().expose_secret(), right);
        }
    }

    #[test]
    fn a_token_is_taken_from_the_environment() {
        // Set by cargo, wherever a test runs.
        let token = AuthToken::from_env("CARGO_PKG_NAME").unwrap();
        assert_eq!(token.expose_secret(), "article-webhook");
    }

    #[test]
    fn a_variable_that_is_not_set_is_named_with_the_command_that_makes_a_token() {
        assert_eq!(
            AuthToken::from_env("NO_SUCH_VARIABLE").unwrap_err().to_string(),
            "the environment variable NO_SUCH_VARIABLE is not set: make a token with \
             `export NO_SUCH_VARIABLE=\"Bearer $(openssl rand -hex 24)\"`, and give the service the same value, \
             `Bearer ` included, as the publish target's auth_token",
        );
    }
}
