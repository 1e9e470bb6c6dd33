use std::{
    collections::BTreeSet,
    env, fmt, fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::CapabilityError;

/// Binds a code to this use of the key.
const PURPOSE: &[u8] = b"article-webhook capability 1\0";

/// The least length of a key, in bytes.
const MIN_KEY_BYTES: usize = 32;

/// How many different bytes a key has at least. Of 32 random hexadecimal digits, fewer than one in 10⁹ have so few.
const MIN_DISTINCT_BYTES: usize = 6;

/// The key that mints and verifies capability URLs: at least 32 secret bytes.
///
/// A per-request `webhook_url` has no token: the service's document does not show its `Authorization`
/// header (section 6.3). So the URL is the secret. Its last segment carries an intent, an expiry
/// and an HMAC-SHA-256 of both, which is verified before the body is read.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook::{AuthToken, CapabilityKey, Receiver};
///
/// let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?;
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
///
/// // When the article is ordered:
/// let now = SystemTime::now();
/// let segment = key.mint("order-17", now + Duration::from_secs(86_400))?;
/// let webhook_url = format!("https://shop.example/webhooks/articles/{}", segment.as_str());
///
/// // When it is delivered:
/// let headers = [("Content-Type", "application/json"), ("X-Service-Event", "article.complete"),
///                ("X-Service-Job-Id", "job_1")];
/// let delivery = receiver.open_capability(&key, segment.as_str(), now, &headers)?.read(r#"{"job_id": "job_1"}"#)?;
/// assert_eq!(delivery.intent(), Some("order-17"));
///
/// let later = now + Duration::from_secs(86_401);
/// let refused = receiver.open_capability(&key, segment.as_str(), later, &headers).unwrap_err();
/// assert_eq!(refused.to_string(), "the capability has expired");
/// assert_eq!(refused.answer().status(), 401);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CapabilityKey {
    mints: Zeroizing<Box<[u8]>>,
    accepts: Vec<Zeroizing<Box<[u8]>>>,
}

impl CapabilityKey {
    /// A key of random bytes, which must not leave the application.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::ShortKey`] under 32 bytes, [`CapabilityError::WeakKey`] if it repeats a few bytes.
    pub fn new(key: &[u8]) -> Result<Self, CapabilityError> {
        if key.len() < MIN_KEY_BYTES {
            return Err(CapabilityError::ShortKey);
        }
        if key.iter().collect::<BTreeSet<_>>().len() < MIN_DISTINCT_BYTES {
            return Err(CapabilityError::WeakKey);
        }
        let mints = Zeroizing::new(key.into());
        Ok(Self { mints, accepts: Vec::new() })
    }

    /// The key in the environment variable `name`: its bytes as they are, as of `openssl rand -hex 32`.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::NotSet`] names the variable; otherwise as [`CapabilityKey::new`].
    pub fn from_env(name: &str) -> Result<Self, CapabilityError> {
        let key = env::var_os(name).ok_or_else(|| CapabilityError::NotSet { name: name.into() })?;
        Self::new(&Zeroizing::new(key.into_encoded_bytes()))
    }

    /// The key in a file, such as a mounted secret: its bytes as they are, but for white space at the end of a text, such as a newline.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::Unreadable`] names the file; otherwise as [`CapabilityKey::new`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, CapabilityError> {
        let path = path.as_ref();
        let unreadable =
            |source| CapabilityError::Unreadable { path: path.display().to_string(), source };
        let key = Zeroizing::new(fs::read(path).map_err(unreadable)?);
        Self::new(if key.is_ascii() { key.trim_ascii_end() } else { &key })
    }

    /// Also accepts the capabilities of `old`. For key rotation, until the last of them has expired.
    #[must_use]
    pub fn also_accepting(mut self, old: Self) -> Self {
        self.accepts.push(old.mints);
        self.accepts.extend(old.accepts);
        self
    }

    /// Mints the last segment of a URL that is valid until `expires`, in whole seconds.
    ///
    /// The intent identifies the order of the delivery, even if the response to the call that created the job was
    /// lost. It is readable in the URL: 1 to 64 ASCII letters, digits, `-` or `_`.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::Intent`] for any other intent, [`CapabilityError::Expiry`] for a time before 1970.
    pub fn mint(&self, intent: &str, expires: SystemTime) -> Result<Capability, CapabilityError> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !(1..=64).contains(&intent.len()) || !intent.bytes().all(legal) {
            return Err(CapabilityError::Intent);
        }
        let expires = expires.duration_since(UNIX_EPOCH).map_err(|_| CapabilityError::Expiry)?;
        let claim = format!("{intent}.{}", expires.as_secs());
        let code = code(&self.mints, &claim).finalize().into_bytes();
        let code: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Capability(format!("{claim}.{code}")))
    }

    /// The intent of a segment that this key minted and that has not expired.
    pub(crate) fn verify<'a>(
        &self,
        segment: &'a str,
        now: SystemTime,
    ) -> Result<&'a str, CapabilityRefusal> {
        let (claim, presented) = segment.rsplit_once('.').ok_or(CapabilityRefusal::Wrong)?;
        let presented = from_hex(presented).ok_or(CapabilityRefusal::Wrong)?;
        // Compared in constant time by the hmac crate.
        let mut keys = [&self.mints].into_iter().chain(&self.accepts);
        if !keys.any(|key| code(key, claim).verify_slice(&presented).is_ok()) {
            return Err(CapabilityRefusal::Wrong);
        }
        // The code is correct, so `mint` wrote this claim.
        let (intent, expires) = claim.split_once('.').ok_or(CapabilityRefusal::Wrong)?;
        let expires: u64 = expires.parse().map_err(|_| CapabilityRefusal::Wrong)?;
        if now.duration_since(UNIX_EPOCH).map_or(true, |now| now.as_secs() >= expires) {
            return Err(CapabilityRefusal::Expired);
        }
        Ok(intent)
    }
}

fn code(key: &[u8], claim: &str) -> Hmac<Sha256> {
    let mut code = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    code.update(PURPOSE);
    code.update(claim.as_bytes());
    code
}

impl fmt::Debug for CapabilityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CapabilityKey(redacted)")
    }
}

/// The last segment of a capability URL, a secret until it expires: keep it out of logs.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use article_webhook::CapabilityKey;
/// let segment = CapabilityKey::new(b"0123456789abcdef0123456789abcdef")?.mint("order-17", SystemTime::now())?;
/// assert_eq!(format!("{segment:?}"), "Capability(redacted)");
/// # Ok::<(), article_webhook::CapabilityError>(())
/// ```
#[derive(Clone)]
pub struct Capability(String);

impl Capability {
    /// The segment, which needs no escaping in a URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Capability(redacted)")
    }
}

/// Why a segment is refused. The sender gets the same answer for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CapabilityRefusal {
    Wrong,
    Expired,
}

/// Lower case only, so that there is one spelling of each capability.
fn from_hex(code: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; 32];
    if code.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(code.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";

    /// The intent that the key accepts at that second, or the refusal.
    fn opened(
        key: &CapabilityKey,
        segment: &str,
        second: u64,
    ) -> Result<String, CapabilityRefusal> {
        let now = UNIX_EPOCH + Duration::from_secs(second);
        key.verify(segment, now).map(str::to_owned)
    }

    #[test]
    fn a_capability_is_good_for_its_intent_until_its_second() {
        let key = CapabilityKey::new(KEY).unwrap();
        let expires = UNIX_EPOCH + Duration::from_secs(100);
        let capability = key.mint("order-17", expires).unwrap();
        assert_eq!(opened(&key, capability.as_str(), 99), Ok("order-17".to_owned()));
        assert_eq!(opened(&key, capability.as_str(), 100), Err(CapabilityRefusal::Expired));

        let (claim, code) = capability.as_str().rsplit_once('.').unwrap();
        for wrong in [
            "order-17".to_owned(),
            claim.to_owned(),
            format!("{claim}.{}", &code[1..]),
            format!("{claim}.{}", code.to_uppercase()),
            format!("{claim}.{}", "g".repeat(64)),
            format!("{claim}.{}", "0".repeat(64)),
            format!("order-18.100.{code}"),
            format!("order-17.101.{code}"),
        ] {
            assert_eq!(opened(&key, &wrong, 99), Err(CapabilityRefusal::Wrong), "{wrong}");
        }
    }

    #[test]
    fn an_old_key_opens_for_as_long_as_it_is_accepted() {
        let key = |number| CapabilityKey::new(&[KEY, &[number]].concat()).unwrap();
        let expires = UNIX_EPOCH + Duration::from_secs(100);
        let [first, second] = [1, 2].map(|number| key(number).mint("a", expires).unwrap());
        let all = key(3).also_accepting(key(2).also_accepting(key(1)));
        for capability in [first, second] {
            assert!(opened(&key(3), capability.as_str(), 99).is_err());
            assert!(opened(&all, capability.as_str(), 99).is_ok());
        }
        assert!(opened(&key(2), all.mint("a", expires).unwrap().as_str(), 99).is_err());
    }

    #[test]
    fn what_cannot_stand_in_a_url_is_not_minted() {
        let key = CapabilityKey::new(KEY).unwrap();
        for intent in ["", "a b", "a.b", "a/b", "\u{e9}", &"x".repeat(65)] {
            let error = key.mint(intent, UNIX_EPOCH).unwrap_err();
            assert!(matches!(error, CapabilityError::Intent), "{intent}: {error}");
        }
        assert!(key.mint(&"x".repeat(64), UNIX_EPOCH).is_ok());
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert!(matches!(key.mint("a", before), Err(CapabilityError::Expiry)));
    }

    #[test]
    fn a_key_that_can_be_guessed_is_refused() {
        assert!(matches!(CapabilityKey::new(&KEY[1..]), Err(CapabilityError::ShortKey)));
        let weak: [&[u8]; 4] = [
            &[0; 32],
            &[7; 64],
            b"abcdeabcdeabcdeabcdeabcdeabcdeabcde",
            b"                                ",
        ];
        for weak in weak {
            assert!(matches!(CapabilityKey::new(weak), Err(CapabilityError::WeakKey)), "{weak:?}");
        }
        assert!(CapabilityKey::new(b"abcdefabcdefabcdefabcdefabcdefabcdef").is_ok());
    }

    #[test]
    fn a_file_holds_a_key_with_or_without_a_newline() {
        let path = env::temp_dir().join(format!("capability-{}.key", std::process::id()));
        let key = CapabilityKey::new(KEY).unwrap();
        let segment = key.mint("order-17", UNIX_EPOCH + Duration::from_secs(100)).unwrap();
        for newline in ["", "\n", "\r\n"] {
            fs::write(&path, [KEY, newline.as_bytes()].concat()).unwrap();
            let key = CapabilityKey::from_file(&path).unwrap();
            assert!(opened(&key, segment.as_str(), 99).is_ok(), "{newline:?}");
        }
        // Random bytes are no text, whatever the last one is.
        let random: Vec<u8> = (224..255).chain([b'\n']).collect();
        fs::write(&path, &random).unwrap();
        let segment = CapabilityKey::new(&random).unwrap();
        let segment = segment.mint("order-17", UNIX_EPOCH + Duration::from_secs(100)).unwrap();
        assert!(opened(&CapabilityKey::from_file(&path).unwrap(), segment.as_str(), 99).is_ok());
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_or_a_variable_that_is_missing_is_named() {
        let error = CapabilityKey::from_file("/no/such.key").unwrap_err();
        assert!(format!("{error:?}").starts_with("the key file /no/such.key cannot be read: "));
        let error = CapabilityKey::from_env("NO_SUCH_VARIABLE").unwrap_err();
        assert!(
            error.to_string().starts_with("the environment variable NO_SUCH_VARIABLE is not set")
        );
    }
}
