use std::io;

use crate::causes::debug_as_text;

/// The token is invalid or cannot be read. No variant contains any part of the token.
///
/// ```
/// use article_webhook::{AuthToken, TokenError};
///
/// assert!(matches!(AuthToken::new(""), Err(TokenError::Empty)));
/// assert!(AuthToken::new("Bearer 5f2b9c0e7a1d4e38").is_ok());
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive] // more values may turn out to be invalid
pub enum TokenError {
    /// The token is the empty string.
    #[error("the token is empty: give the publish target's auth_token")]
    Empty,
    /// The token is only white space.
    #[error("the token is only white space: give the publish target's auth_token")]
    OnlyWhiteSpace,
    /// The token is a scheme word without a secret.
    #[error("the token is the scheme word `{scheme}` alone: give it as in `{scheme} <token>`")]
    #[non_exhaustive]
    SchemeOnly {
        /// The scheme word as it is registered.
        scheme: &'static str,
    },
    /// The scheme word is repeated.
    #[error("the token says `{scheme}` twice: give the scheme word once, as in `{scheme} <token>`")]
    #[non_exhaustive]
    DoubledScheme {
        /// The scheme word as it is registered.
        scheme: &'static str,
    },
    /// A colon behind the scheme word, which no scheme word has (RFC 9110, section 11.4).
    #[error("the token has a colon behind `{scheme}`: give it as in `{scheme} <token>`")]
    #[non_exhaustive]
    SchemeWithColon {
        /// The scheme word as it is registered.
        scheme: &'static str,
    },
    /// White space before or after the token, which HTTP strips from a header.
    #[error("the token begins or ends with white space, which no header can carry: remove it")]
    SurroundingWhiteSpace,
    /// A control or a non-ASCII character.
    #[error(
        "the token contains a control character or a non-ASCII character, which no header can carry safely: remove it"
    )]
    ForbiddenCharacter,
    /// Quotation marks around the whole token. The `auth_token` has the form of a header (service document, section
    /// 2.2), and no scheme word begins with one.
    #[error(
        "the token has quotation marks around it, which would be part of the header: remove them"
    )]
    Quoted,
    /// The name of the header in front of its value.
    #[error(
        "the token begins with `Authorization:`: give the value of the header alone, as in `Bearer <token>`"
    )]
    HeaderName,
    /// The token was never filled in.
    #[error("the token is the placeholder `{placeholder}`: give the publish target's auth_token")]
    #[non_exhaustive]
    Placeholder {
        /// The placeholder that was recognised.
        placeholder: &'static str,
    },
    /// More than 4,096 bytes.
    #[error("the token is longer than 4096 bytes: give the publish target's auth_token")]
    TooLong,
    /// Two targets have the same token.
    #[error(
        "the targets `{first}` and `{second}` have the same token, so that no delivery says which of them it is for: give each a token of its own, or both the same label"
    )]
    #[non_exhaustive]
    Shared {
        /// The label of the target that was there.
        first: String,
        /// The label of the target that was added.
        second: String,
    },
    /// A target has the label that deliveries to capability URLs have.
    #[error(
        "the label `capability` stands for deliveries to capability URLs: give the target another label, such as `capabilities`"
    )]
    ReservedLabel,
    /// [`Targets::from_env`](crate::Targets::from_env) got no target.
    #[error(
        "there is no target: give at least one label with the name of its environment variable"
    )]
    NoTarget,
    /// The environment variable is not set.
    #[error(
        "the environment variable {name} is not set: make a token with `export {name}=\"Bearer $(openssl rand -hex 24)\"`, and give the service the same value, `Bearer ` included, as the publish target's auth_token"
    )]
    #[non_exhaustive]
    NotSet {
        /// The variable's name.
        name: String,
    },
    /// The environment variable is not Unicode.
    #[error(
        "the environment variable {name} is not valid Unicode: a token is printable ASCII, as in `Bearer <token>`"
    )]
    #[non_exhaustive]
    NotUnicode {
        /// The variable's name.
        name: String,
    },
    /// The environment variable holds no valid token.
    #[error("the environment variable {name}: {error}")]
    #[non_exhaustive]
    InVariable {
        /// The variable's name.
        name: String,
        /// What is wrong with its value.
        error: Box<TokenError>,
    },
    /// The file cannot be read.
    #[error("the token file {path} cannot be read")]
    #[non_exhaustive]
    Unreadable {
        /// The file's path.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

debug_as_text!(TokenError);
