use std::{env, fmt, fs, io, path::Path};

use article_webhook::adapter::Causes;
use reqwest::header::HeaderValue;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The placeholder of a form or a template that was not filled in.
const PLACEHOLDER: &str = "<API_KEY>";

/// The key that the service issued to its customer (service document, section 5), without a scheme word.
///
/// It is never shown: it has no `Display` and no `Serialize`, its `Debug` is redacted, and its memory is zeroed on
/// drop. A key that cannot be valid is refused here, before a call.
///
/// ```
/// use article_webhook_client::{ApiKey, KeyError};
///
/// let key = ApiKey::new("sk-5f2b9c0e7a1d4e38")?;
/// assert_eq!(format!("{key:?}"), "ApiKey(redacted)");
///
/// assert!(matches!(ApiKey::new("Bearer sk-5f2b9c0e7a1d4e38"), Err(KeyError::Scheme)));
/// # Ok::<(), KeyError>(())
/// ```
#[derive(Clone)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// The key as the service issued it.
    ///
    /// # Errors
    ///
    /// The key cannot be valid: see [`KeyError`].
    pub fn new(key: &str) -> Result<Self, KeyError> {
        if key.is_empty() {
            return Err(KeyError::Empty);
        }
        let scheme = key.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "));
        if scheme {
            return Err(KeyError::Scheme);
        }
        if key.eq_ignore_ascii_case(PLACEHOLDER) {
            return Err(KeyError::Placeholder);
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::ForbiddenCharacter);
        }
        Ok(Self(Zeroizing::new(key.to_owned())))
    }

    /// The key from the environment variable `name`.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotSet`] names the variable; otherwise as [`ApiKey::new`].
    pub fn from_env(name: &str) -> Result<Self, KeyError> {
        match env::var(name) {
            Ok(key) => Self::new(&Zeroizing::new(key)),
            Err(env::VarError::NotPresent) => Err(KeyError::NotSet { name: name.into() }),
            Err(env::VarError::NotUnicode(_)) => Err(KeyError::ForbiddenCharacter),
        }
    }

    /// The key in a file, such as a mounted secret. White space at its end, such as a newline, is not part of it.
    ///
    /// # Errors
    ///
    /// [`KeyError::Unreadable`] names the file; otherwise as [`ApiKey::new`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, KeyError> {
        let path = path.as_ref();
        let key = fs::read(path).map(Zeroizing::new).map_err(|error| KeyError::Unreadable {
            path: path.display().to_string(),
            kind: error.kind(),
        })?;
        Self::new(str::from_utf8(key.trim_ascii_end()).map_err(|_| KeyError::ForbiddenCharacter)?)
    }

    /// As the value of `Authorization`.
    pub(crate) fn header(&self) -> HeaderValue {
        let value = Zeroizing::new(["Bearer ", &self.0].concat());
        let mut value = HeaderValue::from_str(&value).expect("a key is visible ASCII");
        value.set_sensitive(true);
        value
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The first eight bytes of the SHA-256 of the key.
    pub(crate) fn fingerprint(&self) -> u64 {
        let digest: [u8; 32] = Sha256::digest(self.0.as_bytes()).into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(redacted)")
    }
}

/// Why an API key cannot be valid. No variant holds any part of the key.
///
/// ```
/// use article_webhook_client::ApiKey;
///
/// let error = ApiKey::new("two words").unwrap_err();
/// assert_eq!(error.to_string(), "the API key contains white space or a character that no header can carry: give the key that the service issued");
/// assert!(ApiKey::new("one-word").is_ok());
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // further values may turn out to be invalid
pub enum KeyError {
    /// The key is the empty string.
    #[error("the API key is empty: give the key that the service issued")]
    Empty,
    /// The key begins with a scheme word.
    #[error("the API key begins with `Bearer`: give the key alone, the scheme word is added")]
    Scheme,
    /// The key is the placeholder of a template.
    #[error("the API key is the placeholder `<API_KEY>`: give the key that the service issued")]
    Placeholder,
    /// White space, a control or a non-ASCII character.
    #[error(
        "the API key contains white space or a character that no header can carry: give the key that the service issued"
    )]
    ForbiddenCharacter,
    /// The environment variable is not set.
    #[error("the environment variable {name} is not set: set it to the API key")]
    #[non_exhaustive]
    NotSet {
        /// The variable's name.
        name: String,
    },
    /// The file cannot be read.
    #[error("the file {path} of the API key cannot be read: {kind}")]
    #[non_exhaustive]
    Unreadable {
        /// The file's path.
        path: String,
        /// The error of the system.
        kind: io::ErrorKind,
    },
}

/// The text with its causes: `main` shows an error that it returns by `Debug`.
impl fmt::Debug for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Causes::of(self), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_cannot_be_valid_is_refused() {
        let issued = "give the key that the service issued";
        for (key, error, says) in [
            ("", KeyError::Empty, issued),
            (
                "bearer sk-5f2b9c0e7a1d4e38",
                KeyError::Scheme,
                "give the key alone, the scheme word is added",
            ),
            ("<api_key>", KeyError::Placeholder, issued),
            ("two words", KeyError::ForbiddenCharacter, ""),
            ("line\nbreak", KeyError::ForbiddenCharacter, ""),
        ] {
            assert!(error.to_string().ends_with(says), "{error}");
            assert_eq!(ApiKey::new(key).map(|_| ()), Err(error), "{key:?}");
        }
        assert!(ApiKey::new("sk-5f2b9c0e7a1d4e38").is_ok(), "the key alone, as it was issued");
    }

    /// `printf sk-5f2b9c0e7a1d4e38 | sha256sum`
    #[test]
    fn a_fingerprint_is_the_beginning_of_the_hash() {
        let fingerprint = |key| ApiKey::new(key).unwrap().fingerprint();
        assert_eq!(fingerprint("sk-5f2b9c0e7a1d4e38"), 0xc353_e5f6_a416_6e46);
        assert_ne!(fingerprint("sk-5f2b9c0e7a1d4e38"), fingerprint("sk-5f2b9c0e7a1d4e39"));
    }

    #[test]
    fn a_file_holds_a_key_with_or_without_a_newline() {
        let path = env::temp_dir().join(format!("api-{}.key", std::process::id()));
        for newline in ["", "\n", "\r\n"] {
            fs::write(&path, format!("sk-5f2b9c0e7a1d4e38{newline}")).unwrap();
            assert_eq!(ApiKey::from_file(&path).unwrap().expose(), "sk-5f2b9c0e7a1d4e38");
        }
        fs::write(&path, "two words").unwrap();
        assert_eq!(ApiKey::from_file(&path).map(|_| ()), Err(KeyError::ForbiddenCharacter));
        fs::remove_file(&path).unwrap();
        let error = ApiKey::from_file("/no/such.key").unwrap_err();
        let message = "the file /no/such.key of the API key cannot be read: entity not found";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let message = "the environment variable NO_SUCH_VARIABLE is not set: set it to the API key";
        let error = ApiKey::from_env("NO_SUCH_VARIABLE").unwrap_err();
        assert_eq!((error.to_string().as_str(), format!("{error:?}").as_str()), (message, message));
    }
}
