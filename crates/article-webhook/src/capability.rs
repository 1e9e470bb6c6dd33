use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::{CapabilityError, Envelope, Headers, Receiver, Refused, Rejection};

/// Binds a code to this use of the key.
const PURPOSE: &[u8] = b"article-webhook capability 1\0";

/// The key with which capability URLs are minted and checked: at least 32 secret bytes.
///
/// A per-request `webhook_url` gets no token of its own: the document leaves open what its
/// `Authorization` is (section 6.3). So the URL itself is made the secret: its last segment carries
/// an intent, an expiry and an HMAC-SHA-256 of both, which is checked before a byte of the body is read.
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
    /// Takes the key: random bytes that never leave the application.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::ShortKey`] under 32 bytes.
    ///
    /// ```
    /// use article_webhook::{CapabilityError, CapabilityKey};
    ///
    /// assert!(CapabilityKey::new(&[7; 32]).is_ok());
    /// assert!(matches!(CapabilityKey::new(&[7; 31]), Err(CapabilityError::ShortKey)));
    /// ```
    pub fn new(key: &[u8]) -> Result<Self, CapabilityError> {
        if key.len() < 32 {
            return Err(CapabilityError::ShortKey);
        }
        let mints = Zeroizing::new(key.into());
        Ok(Self { mints, accepts: Vec::new() })
    }

    /// The same, and capabilities that `old` accepts are accepted too: for rotation, until the last
    /// of them has expired.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use article_webhook::{AuthToken, CapabilityKey, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// # let headers = [("Content-Type", "application/json")];
    /// let (old, new) = (CapabilityKey::new(&[7; 32])?, CapabilityKey::new(&[8; 32])?);
    /// let now = SystemTime::now();
    /// let segment = old.mint("order-17", now + Duration::from_secs(60))?;
    /// assert!(receiver.open_capability(&new, segment.as_str(), now, &headers).is_err());
    ///
    /// let both = new.also_accepting(old);
    /// assert!(receiver.open_capability(&both, segment.as_str(), now, &headers).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn also_accepting(mut self, old: Self) -> Self {
        self.accepts.push(old.mints);
        self.accepts.extend(old.accepts);
        self
    }

    /// Mints the last segment of a URL that is good until `expires`, to the second.
    ///
    /// The intent says what the delivery will be for, also when the answer of the call that created
    /// the job was lost. It is readable in the URL: 1 to 64 ASCII letters, digits, `-` or `_`.
    ///
    /// # Errors
    ///
    /// [`CapabilityError::Intent`] for any other intent, [`CapabilityError::Expiry`] for a time before 1970.
    ///
    /// ```
    /// # use std::time::{Duration, UNIX_EPOCH};
    /// # use article_webhook::{CapabilityError, CapabilityKey};
    /// let key = CapabilityKey::new(&[7; 32])?;
    /// let expires = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    /// assert!(key.mint("order-17", expires)?.as_str().starts_with("order-17.1800000000."));
    /// assert!(matches!(key.mint("order 17", expires), Err(CapabilityError::Intent)));
    /// # Ok::<(), CapabilityError>(())
    /// ```
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

/// The last segment of a capability URL. It is a secret until it expires: keep it out of logs.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// # use article_webhook::CapabilityKey;
/// let segment = CapabilityKey::new(&[7; 32])?.mint("order-17", SystemTime::now())?;
/// assert_eq!(format!("{segment:?}"), "Capability(redacted)");
/// # Ok::<(), article_webhook::CapabilityError>(())
/// ```
#[derive(Clone)]
pub struct Capability(String);

impl Capability {
    /// The segment, which needs no escaping in a URL.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use article_webhook::CapabilityKey;
    /// let segment = CapabilityKey::new(&[7; 32])?.mint("order-17", SystemTime::now())?;
    /// assert_eq!(segment.as_str().split('.').next(), Some("order-17"));
    /// # Ok::<(), article_webhook::CapabilityError>(())
    /// ```
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

impl Receiver {
    /// The second door: judges a request to a capability URL by the URL's last segment.
    /// `Authorization` is ignored; everything else is as for [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// The segment is none of ours, or has expired at `now` (401, the same answer for both);
    /// otherwise as [`open`](Self::open).
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use article_webhook::{AuthToken, Receiver};
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let key = article_webhook::CapabilityKey::new(&[7; 32])?;
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json")];
    /// let refused = receiver.open_capability(&key, "order-17.1800000000.00", SystemTime::now(), &headers);
    /// assert_eq!(refused.unwrap_err().answer().status(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_capability(
        &self,
        key: &CapabilityKey,
        segment: &str,
        now: SystemTime,
        headers: &(impl Headers + ?Sized),
    ) -> Result<Envelope, Refused> {
        self.door(headers, |_| {
            let intent = check(key, segment, now)?;
            Ok(("capability".into(), Some(intent.into())))
        })
    }
    /// Judges a whole request head at the second door: the method, which must be POST, then the
    /// last segment of the path, then the headers. For adapters that are mounted on every method.
    ///
    /// # Errors
    ///
    /// Any other method (405); otherwise as [`open_capability`](Self::open_capability).
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// # use article_webhook::{AuthToken, CapabilityKey, Receiver};
    /// # let key = CapabilityKey::new(&[7; 32])?;
    /// # let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let now = SystemTime::now();
    /// let path = format!("/hooks/{}", key.mint("order-17", now + Duration::from_secs(60))?.as_str());
    /// let headers = [("Content-Type", "application/json")];
    /// assert!(receiver.open_capability_request(&key, "POST", &path, now, &headers).is_ok());
    ///
    /// let refused = receiver.open_capability_request(&key, "POST", "/hooks/guess", now, &headers).unwrap_err();
    /// assert_eq!(refused.answer().status(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_capability_request(
        &self,
        key: &CapabilityKey,
        method: &str,
        path: &str,
        now: SystemTime,
        headers: &(impl Headers + ?Sized),
    ) -> Result<Envelope, Refused> {
        if method != "POST" {
            return self.door(headers, |_| Err(Rejection::MethodNotPost));
        }
        let segment = path.rsplit('/').next().unwrap_or_default();
        self.open_capability(key, segment, now, headers)
    }
}

fn check<'a>(key: &CapabilityKey, segment: &'a str, now: SystemTime) -> Result<&'a str, Rejection> {
    let (claim, presented) = segment.rsplit_once('.').ok_or(Rejection::CapabilityWrong)?;
    let presented = from_hex(presented).ok_or(Rejection::CapabilityWrong)?;
    // Compared in constant time by the hmac crate.
    let mut keys = [&key.mints].into_iter().chain(&key.accepts);
    if !keys.any(|key| code(key, claim).verify_slice(&presented).is_ok()) {
        return Err(Rejection::CapabilityWrong);
    }
    // The code was ours, so the claim is one that `mint` wrote.
    let (intent, expires) = claim.split_once('.').ok_or(Rejection::CapabilityWrong)?;
    let expires: u64 = expires.parse().map_err(|_| Rejection::CapabilityWrong)?;
    if now.duration_since(UNIX_EPOCH).map_or(true, |now| now.as_secs() >= expires) {
        return Err(Rejection::CapabilityExpired);
    }
    Ok(intent)
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

    #[test]
    fn neither_a_key_nor_what_it_minted_is_shown() {
        let key = CapabilityKey::new(&[7; 32]).unwrap();
        let capability = key.mint("order-17", UNIX_EPOCH).unwrap();
        assert_eq!(
            format!("{key:?} {capability:?}"),
            "CapabilityKey(redacted) Capability(redacted)"
        );
    }

    /// The intent that the key lets in at that second, or the refusal.
    fn opened(key: &CapabilityKey, segment: &str, second: u64) -> Result<String, Rejection> {
        let now = UNIX_EPOCH + Duration::from_secs(second);
        check(key, segment, now).map(str::to_owned)
    }

    #[test]
    fn a_capability_is_good_for_its_intent_until_its_second() {
        let key = CapabilityKey::new(&[7; 32]).unwrap();
        let expires = UNIX_EPOCH + Duration::from_secs(100);
        let capability = key.mint("order-17", expires).unwrap();
        assert_eq!(opened(&key, capability.as_str(), 99), Ok("order-17".to_owned()));
        assert_eq!(opened(&key, capability.as_str(), 100), Err(Rejection::CapabilityExpired));

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
            assert_eq!(opened(&key, &wrong, 99), Err(Rejection::CapabilityWrong), "{wrong}");
        }
    }

    #[test]
    fn an_old_key_opens_for_as_long_as_it_is_accepted() {
        let key = |byte| CapabilityKey::new(&[byte; 32]).unwrap();
        let expires = UNIX_EPOCH + Duration::from_secs(100);
        let [first, second] = [1, 2].map(|byte| key(byte).mint("a", expires).unwrap());
        let all = key(3).also_accepting(key(2).also_accepting(key(1)));
        for capability in [first, second] {
            assert!(opened(&key(3), capability.as_str(), 99).is_err());
            assert!(opened(&all, capability.as_str(), 99).is_ok());
        }
        assert!(opened(&key(2), all.mint("a", expires).unwrap().as_str(), 99).is_err());
    }

    #[test]
    fn what_cannot_stand_in_a_url_is_not_minted() {
        let key = CapabilityKey::new(&[7; 32]).unwrap();
        for intent in ["", "a b", "a.b", "a/b", "\u{e9}", &"x".repeat(65)] {
            assert_eq!(
                key.mint(intent, UNIX_EPOCH).unwrap_err(),
                CapabilityError::Intent,
                "{intent}"
            );
        }
        assert!(key.mint(&"x".repeat(64), UNIX_EPOCH).is_ok());
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(key.mint("a", before).unwrap_err(), CapabilityError::Expiry);
        assert_eq!(CapabilityKey::new(&[7; 31]).unwrap_err(), CapabilityError::ShortKey);
    }
}
