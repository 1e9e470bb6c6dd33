//! The headers that describe the body: `Content-Type`, `Content-Encoding`, `Content-Length`,
//! `Transfer-Encoding` and `Upgrade`.

use std::str;

use super::headers::{Headers, Repeated, single};
use crate::answer::Rejection;

/// Checks that there is one `Content-Type`: `application/json` in any letter case, with any parameters, and no
/// `charset` but UTF-8.
pub(super) fn check_content_type(headers: &(impl Headers + ?Sized)) -> Result<(), Rejection> {
    let value = single(headers, "content-type")
        .map_err(|Repeated| Rejection::ContentTypeRepeated)?
        .ok_or(Rejection::ContentTypeMissing)?;
    let value = str::from_utf8(value).map_err(|_| Rejection::ContentTypeWrong)?;
    let (media_type, parameters) = value.split_once(';').unwrap_or((value, ""));
    if !media_type.trim_ascii().eq_ignore_ascii_case("application/json") {
        return Err(Rejection::ContentTypeWrong);
    }
    check_parameters(parameters)
}

/// Checks that the parameters (RFC 9110, section 5.6.6) are valid and name no `charset` but UTF-8.
fn check_parameters(parameters: &str) -> Result<(), Rejection> {
    let (mut quoted, mut escaped) = (false, false);
    let outside_quotes = |c| {
        let escape = quoted && !escaped && c == '\\';
        quoted ^= c == '"' && !escaped;
        escaped = escape;
        c == ';' && !quoted
    };
    let mut parameters = parameters.split(outside_quotes).map(str::trim_ascii);
    parameters.try_for_each(|parameter| {
        if parameter.is_empty() {
            return Ok(());
        }
        let (name, value) = parameter.split_once('=').ok_or(Rejection::ContentTypeWrong)?;
        let inner = unquoted(value);
        if !is_token(name) || !(inner.is_some() || is_token(value)) {
            return Err(Rejection::ContentTypeWrong);
        }
        let utf8 = inner.unwrap_or(value).eq_ignore_ascii_case("utf-8");
        if !utf8 && name.eq_ignore_ascii_case("charset") {
            return Err(Rejection::ContentTypeCharset);
        }
        Ok(())
    })
}

/// The inside of a quoted string (RFC 9110, section 5.6.4), with its escapes.
fn unquoted(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut escaped = false;
    let closes = |c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    };
    let closes_early = inner.chars().any(closes);
    (!closes_early && !escaped).then_some(inner)
}

/// Whether `word` is a token (RFC 9110, section 5.6.2).
fn is_token(word: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !word.is_empty() && word.bytes().all(legal)
}

/// Whether `Content-Encoding` is absent or `identity`. Nothing is ever decompressed.
pub(super) fn is_unencoded(headers: &(impl Headers + ?Sized)) -> bool {
    headers
        .values("content-encoding")
        .flat_map(|value| value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
}

/// The declared length of the body in bytes; `None` for a chunked body. A body that is framed in two ways
/// is refused, because a proxy in front may have used the other one. So is a request for WebSocket that is not
/// chunked: actix-web ignores its length, and takes everything up to the end of the connection for the body.
pub(super) fn declared_length(headers: &(impl Headers + ?Sized)) -> Result<Option<u64>, Rejection> {
    let framing = |Repeated| Rejection::Framing;
    let length = single(headers, "content-length").map_err(framing)?;
    match (single(headers, "transfer-encoding").map_err(framing)?, length) {
        (None, _) if is_for_websocket(headers) => Err(Rejection::Framing),
        (None, None) => Ok(None),
        (None, Some(digits)) => number(digits).map(Some).ok_or(Rejection::Framing),
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => Ok(None),
        (Some(_), _) => Err(Rejection::Framing),
    }
}

fn is_for_websocket(headers: &(impl Headers + ?Sized)) -> bool {
    let mut protocols = headers.values("upgrade");
    protocols.any(|protocol| protocol.trim_ascii().eq_ignore_ascii_case(b"websocket"))
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = str::from_utf8(digits).ok()?;
    // Only a number of more than 64 bits fails here, and it is over any limit.
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_one_length() {
        let declared = |pairs: &[(&str, &str)]| declared_length(pairs);
        assert_eq!(declared(&[]), Ok(None));
        assert_eq!(declared(&[("content-length", "7")]), Ok(Some(7)));
        assert_eq!(declared(&[("content-length", "99999999999999999999")]), Ok(Some(u64::MAX)));
        assert_eq!(declared(&[("transfer-encoding", "Chunked")]), Ok(None));
        let chunked_upgrade = [("transfer-encoding", "chunked"), ("upgrade", "websocket")];
        assert_eq!(declared(&chunked_upgrade), Ok(None));
        assert_eq!(declared(&[("content-length", "7"), ("upgrade", "h2c")]), Ok(Some(7)));
        for pairs in [
            &[("content-length", "-1")][..],
            &[("content-length", "")],
            &[("content-length", "7"), ("content-length", "7")],
            &[("content-length", "7"), ("transfer-encoding", "chunked")],
            &[("transfer-encoding", "gzip, chunked")],
            &[("content-length", "7"), ("upgrade", " WebSocket")],
            &[("upgrade", "h2c"), ("upgrade", "websocket")],
        ] {
            assert_eq!(declared(pairs), Err(Rejection::Framing), "{pairs:?}");
        }
    }
}
