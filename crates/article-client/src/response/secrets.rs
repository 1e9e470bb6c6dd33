use std::iter;

use crate::ApiKey;

/// A last segment of a path that is longer than this is hidden also without the rest of its URL.
const MAX_PLAIN_SEGMENT: usize = 15;

/// What a call sends and no text may show: a service, or a proxy, may repeat the request that it refuses.
pub(crate) struct Secrets<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Secrets<'a> {
    /// The secret of every call.
    pub(crate) fn of(key: &'a ApiKey) -> Self {
        Self(vec![("(the API key)", key.expose())])
    }

    /// With the URL of an order, whose last segment is a capability.
    pub(crate) fn with_webhook_url(mut self, url: &'a str) -> Self {
        const NAME: &str = "(the webhook URL)";
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let segment = path.rsplit('/').next().unwrap_or_default();
        if !url.is_empty() {
            self.0.push((NAME, url));
        }
        if segment.len() > MAX_PLAIN_SEGMENT {
            self.0.push((NAME, segment));
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
        self.0.iter().find_map(|&(name, secret)| Some((name, after(secret, text)?)))
    }
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
