//! Which tokens can be built, and which presented values match. The input is the presented value and
//! then up to four tokens, each behind a byte that no text holds: `0xff`.

use std::collections::BTreeSet;

use article_webhook::{AuthToken, Receiver, Rejection, Targets, TokenError};
use http::HeaderValue;

/// The label of the target whose token was presented, as a delivery bears it.
fn target(receiver: &Receiver, presented: &[u8]) -> Option<String> {
    let headers = [
        ("Authorization", presented),
        ("Content-Type", b"application/json"),
        ("X-Service-Event", b"article.complete"),
        ("X-Service-Job-Id", b"job_1"),
    ];
    match receiver.open(&headers) {
        Ok(envelope) => {
            let shown = format!("{envelope:?}");
            let delivery = envelope.read("{}").ok()?;
            let target = delivery.target();
            let about = format!("target: {target:?}, event: Some(ArticleComplete)");
            assert_eq!(
                shown,
                format!("Envelope {{ {about}, job_id: Some(JobId(\"job_1\")), .. }}")
            );
            Some(target.to_owned())
        }
        Err(refused) => {
            let text = "the Authorization header is not an accepted token";
            assert_eq!(
                (format!("{refused:?}").as_str(), refused.to_string().as_str()),
                (text, text)
            );
            assert_eq!(
                (refused.rejection(), refused.job_id()),
                (&Rejection::AuthorizationWrong, None)
            );
            None
        }
    }
}

/// Holds the core to its tokens.
pub fn check(data: &[u8]) {
    let mut parts = data.split(|&byte| byte == 0xff);
    let presented = parts.next().unwrap_or_default();
    let mut accepted = Vec::new();
    for text in parts.take(4).filter_map(|part| str::from_utf8(part).ok()) {
        match AuthToken::new(text) {
            Ok(token) => {
                a_token_is_legal(text);
                assert_eq!(format!("{token:?}"), "AuthToken(redacted)");
                assert!(token.is_short() || text.len() >= 16);
                accepted.push((text, token));
            }
            Err(error) => {
                a_refusal_has_its_reason(text, &error);
                the_message_is_a_constant(&error);
            }
        }
    }
    // What no header can hold never reaches a receiver.
    if HeaderValue::from_bytes(presented).is_ok() {
        only_equals_are_accepted(presented, accepted);
    }
}

fn a_token_is_legal(text: &str) {
    assert!((1..=4096).contains(&text.len()), "a token of {} bytes", text.len());
    assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "no header can hold it");
    assert!(!text.starts_with(' ') && !text.ends_with(' '), "HTTP strips its white space");
    assert!(!text.to_ascii_lowercase().starts_with("authorization:"), "it is a whole header");
}

fn a_refusal_has_its_reason(text: &str, error: &TokenError) {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let reason = match error {
        TokenError::Empty => text.is_empty(),
        TokenError::OnlyWhiteSpace => words.next().is_none(),
        TokenError::SchemeOnly { scheme, .. } => words.eq([scheme.to_ascii_lowercase()]),
        TokenError::DoubledScheme { scheme, .. } => {
            let scheme = scheme.to_ascii_lowercase();
            words.next() == Some(&scheme) && words.next() == Some(&scheme)
        }
        TokenError::SchemeWithColon { scheme, .. } => {
            lower.starts_with(&[scheme.to_ascii_lowercase().as_str(), ":"].concat())
        }
        TokenError::SurroundingWhiteSpace => text.trim() != text,
        TokenError::ForbiddenCharacter => !text.bytes().all(|byte| matches!(byte, b' '..=b'~')),
        TokenError::Quoted => {
            let mut ends = [text.chars().next(), text.chars().next_back()].into_iter().flatten();
            text.len() > 1 && ends.all(|end| text.starts_with(end) && "\"'`".contains(end))
        }
        TokenError::HeaderName => lower.starts_with("authorization:"),
        TokenError::Placeholder { placeholder, .. } => {
            words.next_back() == Some(&placeholder.to_ascii_lowercase())
        }
        TokenError::TooLong => text.len() > 4096,
        _ => false,
    };
    assert!(reason, "{error:?} without a reason");
}

/// So it holds nothing of the token, not even of one that is a word of the message.
fn the_message_is_a_constant(error: &TokenError) {
    thread_local!(static CONSTANTS: BTreeSet<[String; 2]> = constants());
    let shown = [format!("{error:?}"), error.to_string()];
    assert!(CONSTANTS.with(|constants| constants.contains(&shown)), "{shown:?}");
}

fn constants() -> BTreeSet<[String; 2]> {
    use TokenError::{
        Empty, ForbiddenCharacter, HeaderName, OnlyWhiteSpace, Quoted, SurroundingWhiteSpace,
        TooLong,
    };
    let schemes = ["Bearer", "Basic", "Token", "ApiKey", "Digest", "OAuth"];
    let placeholders = ["<AUTH_TOKEN>", "undefined", "null", "changeme"];
    let plain = [
        Empty,
        OnlyWhiteSpace,
        SurroundingWhiteSpace,
        ForbiddenCharacter,
        Quoted,
        HeaderName,
        TooLong,
    ];
    let refused = |text: &str| AuthToken::new(text).expect_err("no service has such a token");
    let errors = plain
        .into_iter()
        .chain(schemes.map(refused))
        .chain(schemes.map(|scheme| refused(&[scheme, " ", scheme, " x"].concat())))
        .chain(schemes.map(|scheme| refused(&[scheme, ": x"].concat())))
        .chain(placeholders.map(refused));
    errors.map(|error| [format!("{error:?}"), error.to_string()]).collect()
}

/// The tokens are moved, not cloned: each zeroes its memory in the end, which takes the most time here.
fn only_equals_are_accepted(presented: &[u8], accepted: Vec<(&str, AuthToken)>) {
    let is_presented = |text: &str| text.as_bytes() == strip(presented);
    let mut accepted = accepted.into_iter();
    let Some((text, token)) = accepted.next() else {
        return;
    };
    let receiver = Receiver::new(Targets::new("0", token).expect("no label is reserved"));
    assert_eq!(format!("{receiver:?}"), SHOWN);
    assert_eq!(target(&receiver, presented).is_some(), is_presented(text), "one token");

    let Some((text, token)) = accepted.next() else {
        return;
    };
    let mut equal = vec![];
    let mut note = |label, text| equal.extend(is_presented(text).then_some(label));
    note("1", text);
    let mut targets = Targets::new("1", token).expect("no label is reserved");
    let mut texts = vec![text];
    for (label, (text, token)) in ["2", "3"].into_iter().zip(accepted) {
        let is_shared = texts.contains(&text);
        targets = match targets.and(label, token) {
            Ok(more) => {
                assert!(!is_shared, "two targets have one token");
                more
            }
            Err(error) => return assert!(is_shared, "{error}"),
        };
        note(label, text);
        texts.push(text);
    }
    receiver.replace_targets(targets);
    match target(&receiver, presented) {
        Some(label) => assert!(equal.contains(&&*label), "{label} of {equal:?}"),
        None => assert!(equal.is_empty(), "an accepted token was refused"),
    }
}

const SHOWN: &str = r#"Receiver { targets: ["0"], body_limit: 8388608, .. }"#;

/// The white space that HTTP does not count (RFC 9110, section 5.6.3).
fn strip(value: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = value.iter().position(|byte| !blank(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &value[start..end]
}
