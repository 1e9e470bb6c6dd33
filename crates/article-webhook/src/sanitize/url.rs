use std::{borrow::Cow, collections::BTreeSet};

/// Formats of `data:` images. SVG is not one: it is a document.
const IMAGE_TYPES: [&str; 5] = ["png", "jpeg", "gif", "webp", "avif"];

/// The URL as a browser reads it, if it is relative or has one of these schemes.
pub(super) fn url(text: &str, schemes: &[&str]) -> Option<String> {
    let url = trimmed(text);
    let end = url.find([':', '/', '?', '#']);
    match end.filter(|end| url[*end..].starts_with(':')) {
        Some(end) if !schemes.iter().any(|scheme| scheme.eq_ignore_ascii_case(&url[..end])) => None,
        _ => Some(url),
    }
}

/// Browsers remove white space and control characters around a URL, and line breaks and tabs in it.
fn trimmed(text: &str) -> String {
    let inner = text.trim_matches(|it: char| it <= ' ');
    inner.chars().filter(|it| !matches!(it, '\t' | '\n' | '\r')).collect()
}

/// The id that a link leads to, if it stays on its page.
pub(super) fn fragment(text: &str) -> Option<&str> {
    text.trim_matches(|it: char| it <= ' ').strip_prefix('#')
}

/// Whether it is an https URL without a port, of one of these hosts.
pub(super) fn is_from(url: &str, hosts: &BTreeSet<String>) -> bool {
    let rest =
        url.split_at_checked(8).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("https://"));
    let host = rest.map(|(_, rest)| rest.split(['/', '?', '#', '\\']).next().unwrap_or_default());
    host.is_some_and(|host| hosts.contains(&host.to_ascii_lowercase()))
}

/// A `data:` URL of an image of at most `max_bytes`.
pub(super) fn data_image(text: &str, max_bytes: usize) -> Option<String> {
    let url = trimmed(text);
    let (head, data) = url.split_once(',')?;
    let head = head.to_ascii_lowercase();
    let kind = head.strip_prefix("data:image/")?.strip_suffix(";base64")?;
    let is_image = IMAGE_TYPES.contains(&kind) && !data.is_empty() && data.bytes().all(is_base64);
    (is_image && data.len() / 4 * 3 <= max_bytes).then_some(url)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// The candidates of a `srcset` whose URLs are allowed, if there are any.
pub(super) fn srcset(text: &str, schemes: &[&str]) -> Option<String> {
    let is_between = |it: char| it.is_ascii_whitespace() || it == ',';
    let mut candidates = Vec::new();
    let mut rest = text.trim_start_matches(is_between);
    while !rest.is_empty() {
        let (address, after) =
            rest.split_at(rest.find(|it: char| it.is_ascii_whitespace()).unwrap_or(rest.len()));
        // A comma at its end ends the candidate. One within it is a part of the URL.
        let (size, after) = match address.ends_with(',') {
            true => ("", after),
            false => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        let size = size.trim();
        let is_size =
            size.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'w' | b'x'));
        if is_size && let Some(url) = url(address.trim_end_matches(','), schemes) {
            candidates.push(format!("{url} {size}").trim_end().to_owned());
        }
        rest = after.trim_start_matches(is_between);
    }
    (!candidates.is_empty()).then(|| candidates.join(", "))
}

/// Empties `data:` URLs that are longer than is kept anyway, so that they are not read as parts of a tag.
pub(super) fn without_long_data(html: &str, max_bytes: usize) -> Cow<'_, str> {
    const BEGINNING: &str = ";base64,";
    let mut parts = html.split_inclusive(BEGINNING);
    let (Some(first), true) = (parts.next(), html.contains(BEGINNING)) else { return html.into() };
    let mut kept = first.to_owned();
    for part in parts {
        let data = part.bytes().take_while(|byte| is_base64(*byte)).count();
        kept.push_str(if data / 4 * 3 > max_bytes { &part[data..] } else { part });
    }
    kept.into()
}
