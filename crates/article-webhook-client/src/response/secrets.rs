use std::iter;

use crate::ApiKey;

/// A last segment of a path that is longer than this is hidden also without the rest of its URL.
const MAX_PLAIN_SEGMENT: usize = 15;

/// What takes the place of a webhook URL, or of its last segment.
const WEBHOOK_URL: &str = "(the webhook URL)";

/// How many characters of the code of a capability are needed to hide it. Whole, it has 64.
const MIN_CODE: usize = 16;

/// What a call sends and no text may show: a service, or a proxy, may repeat the request that it refuses. Nor may a text show
/// the capability that an earlier order sent: the answer to a question for its job may repeat that.
pub(crate) struct Secrets<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Secrets<'a> {
    /// The secret of every call.
    pub(crate) fn of(key: &'a ApiKey) -> Self {
        Self(vec![("(the API key)", key.expose())])
    }

    /// With the URL of an order, whose last segment is a capability.
    pub(crate) fn with_webhook_url(mut self, url: &'a str) -> Self {
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let segment = path.rsplit('/').next().unwrap_or_default();
        if !url.is_empty() {
            self.0.push((WEBHOOK_URL, url));
        }
        if segment.len() > MAX_PLAIN_SEGMENT {
            self.0.push((WEBHOOK_URL, segment));
        }
        self
    }

    /// With the token of a publish target, whole and without its scheme word.
    pub(crate) fn with_auth_token(mut self, token: &'a str) -> Self {
        const NAME: &str = "(the token)";
        let credentials = token.split_once(' ').map_or(token, |(_, credentials)| credentials);
        self.0.extend([(NAME, token), (NAME, credentials)]);
        self
    }

    /// The beginning of a text, at most this many characters, with names in the place of the secrets.
    pub(super) fn hidden_in(&self, mut text: &str, limit: usize) -> String {
        let pieces = iter::from_fn(|| {
            let (piece, rest) = self.split_secret(text).or_else(|| {
                let first = text.chars().next()?;
                Some(text.split_at(first.len_utf8()))
            })?;
            text = rest;
            Some(piece)
        });
        pieces.flat_map(str::chars).take(limit).collect()
    }

    /// The name of the secret that the text begins with, and the text after it.
    fn split_secret<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let known = self.0.iter().find_map(|&(name, secret)| Some((name, after(secret, text)?)));
        known.or_else(|| Some((WEBHOOK_URL, after_capability(text)?)))
    }
}

/// The text after the capability that it begins with: the last segment of the webhook URL of any order, as
/// `CapabilityKey::mint` writes it.
fn after_capability(text: &str) -> Option<&str> {
    let is_intent = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let rest = after_some(text, 1, is_intent)?.strip_prefix('.')?;
    let rest = after_some(rest, 1, u8::is_ascii_digit)?.strip_prefix('.')?;
    after_some(rest, MIN_CODE, u8::is_ascii_hexdigit)
}

/// The text after the bytes of a kind that it begins with, if there are at least `least`.
fn after_some(text: &str, least: usize, is_one: impl Fn(&u8) -> bool) -> Option<&str> {
    let count = text.bytes().take_while(is_one).count();
    (count >= least).then(|| &text[count..])
}

/// The text after the secret that it begins with. A character of it may be escaped as in JSON (`\/`), also in JSON that
/// is a text of JSON (`\\/` or `\\\/`).
fn after<'t>(secret: &str, text: &'t str) -> Option<&'t str> {
    let unescaped =
        |text: &'t str| (0..3).fold(text, |rest, _| rest.strip_prefix('\\').unwrap_or(rest));
    secret.chars().try_fold(text, |rest, character| {
        rest.strip_prefix(character).or_else(|| unescaped(rest).strip_prefix(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_hidden_wherever_it_stands() {
        let key = ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap();
        let capability = format!("post-17_B.1763836000.{}", "0a".repeat(32));
        for (text, shown) in [
            (
                format!("to https://shop.example/orders/{capability}?a=1"),
                "to https://shop.example/orders/(the webhook URL)?a=1",
            ),
            (
                format!(r#"{{"url":"https:\/\/shop.example\/{capability}"}}"#),
                r#"{"url":"https:\/\/shop.example\/(the webhook URL)"}"#,
            ),
            (capability.clone(), "(the webhook URL)"),
            (capability[..40].to_owned(), "(the webhook URL)"),
            (format!("{capability} {capability}"), "(the webhook URL) (the webhook URL)"),
            (
                "version 1.2.3, at 10.0.0.1 or api.v2.example".to_owned(),
                "version 1.2.3, at 10.0.0.1 or api.v2.example",
            ),
        ] {
            assert_eq!(Secrets::of(&key).hidden_in(&text, 200), shown);
        }
    }
}
