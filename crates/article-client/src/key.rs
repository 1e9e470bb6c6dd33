use std::{env, fmt};

use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// What a form or a template leaves behind when nobody filled the key in.
const PLACEHOLDER: &str = "<API_KEY>";

/// The key that the service issued to its customer (document, section 5), without a scheme word.
///
/// It is never shown: it has no `Display` and no `Serialize`, its `Debug` is redacted, and its memory is
/// zeroed on drop. A key that cannot be right is refused here, and not by the service.
///
/// ```
/// use article_client::{ApiKey, KeyError};
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
    /// Takes the key as the service issued it.
    ///
    /// # Errors
    ///
    /// A [`KeyError`] for every value that cannot be right.
    ///
    /// ```
    /// use article_client::{ApiKey, KeyError};
    ///
    /// assert!(ApiKey::new("sk-5f2b9c0e7a1d4e38").is_ok());
    /// assert!(matches!(ApiKey::new(""), Err(KeyError::Empty)));
    /// ```
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

    /// Takes the key from the environment variable `name`.
    ///
    /// # Errors
    ///
    /// [`KeyError::NotSet`] names the variable; otherwise as [`ApiKey::new`].
    ///
    /// ```
    /// use article_client::ApiKey;
    ///
    /// let missing = ApiKey::from_env("NO_SUCH_VARIABLE").unwrap_err();
    /// assert_eq!(
    ///     missing.to_string(),
    ///     "the environment variable NO_SUCH_VARIABLE is not set: set it to the API key",
    /// );
    /// ```
    pub fn from_env(name: &str) -> Result<Self, KeyError> {
        match env::var(name) {
            Ok(key) => Self::new(&Zeroizing::new(key)),
            Err(env::VarError::NotPresent) => Err(KeyError::NotSet { name: name.into() }),
            Err(env::VarError::NotUnicode(_)) => Err(KeyError::ForbiddenCharacter),
        }
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
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(redacted)")
    }
}

/// Why an API key cannot be right. No variant holds any part of it.
///
/// ```
/// use article_client::ApiKey;
///
/// let error = ApiKey::new("two words").unwrap_err();
/// assert_eq!(error.to_string(), "the API key holds white space or a character that no header can carry");
/// assert!(ApiKey::new("one-word").is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // further values may turn out never to be right
pub enum KeyError {
    /// The key is the empty string.
    #[error("the API key is empty: give the key that the service issued")]
    Empty,
    /// The key begins with a scheme word.
    #[error("the API key begins with `Bearer`: give the key alone, the scheme word is added")]
    Scheme,
    /// The key was never filled in.
    #[error("the API key is the placeholder `<API_KEY>`: give the key that the service issued")]
    Placeholder,
    /// White space, a control or a non-ASCII character.
    #[error("the API key holds white space or a character that no header can carry")]
    ForbiddenCharacter,
    /// The environment variable is not set.
    #[error("the environment variable {name} is not set: set it to the API key")]
    NotSet {
        /// The variable's name.
        name: String,
    },
}
