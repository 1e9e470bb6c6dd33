//! What is read of the URL of a database.

use percent_encoding::percent_decode_str;

pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Whether a text that is no such URL is one of another kind, or what libpq reads instead of a URL. It is no file, and may have
/// a password.
pub(super) fn is_of_another_kind(text: &str) -> bool {
    text.contains("://") || text.contains("password=")
}

pub(super) fn has_password(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let in_front = rest.split_once('@').is_some_and(|(before, _)| before.contains(':'));
    in_front || parameters(url).any(|parameter| name(parameter) == "password")
}

/// What follows the question mark.
pub(super) fn parameters(url: &str) -> impl Iterator<Item = &str> {
    let (_, parameters) = url.split_once('?').unwrap_or_default();
    parameters.split('&').filter(|parameter| !parameter.is_empty())
}

pub(super) fn name(parameter: &str) -> String {
    let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}
