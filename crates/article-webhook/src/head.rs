//! What the headers of a delivery must say, apart from who sent it.

use crate::{Headers, Rejection, header::single};

/// `application/json`, once, in any letter case, with any parameters, of which `charset` can only be UTF-8.
pub(crate) fn is_json(headers: &(impl Headers + ?Sized)) -> bool {
    let Ok(Some(value)) = single(headers, "content-type") else {
        return false;
    };
    let Some(mime) = std::str::from_utf8(value)
        .ok()
        .and_then(|value| value.parse::<mime::Mime>().ok())
    else {
        return false;
    };
    let utf8 = |(name, value): (mime::Name<'_>, mime::Name<'_>)| {
        name != mime::CHARSET || value.as_str().eq_ignore_ascii_case("utf-8")
    };
    mime.essence_str() == "application/json" && mime.params().all(utf8)
}

/// No encoding but `identity`, so that nothing is ever decompressed.
pub(crate) fn is_plain(headers: &(impl Headers + ?Sized)) -> bool {
    headers
        .values("content-encoding")
        .flat_map(|value| value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
}

/// The declared length of the body in bytes. Chunks are of unknown length, whatever else is declared.
pub(crate) fn declared_length(headers: &(impl Headers + ?Sized)) -> Result<Option<u64>, Rejection> {
    if headers.values("transfer-encoding").next().is_some() {
        return Ok(None);
    }
    let mut lengths = headers.values("content-length").map(length);
    let Some(first) = lengths.next() else {
        return Ok(None);
    };
    // Equal ones are harmless and some servers let them through (RFC 9110, section 8.6).
    if lengths.any(|other| other != first) {
        return Err(Rejection::ContentLength);
    }
    first.map(Some)
}

fn length(value: &[u8]) -> Result<u64, Rejection> {
    let digits = value.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Rejection::ContentLength);
    }
    // Only a number too large for 64 bits fails now, and it is over any limit.
    let digits = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok());
    Ok(digits.unwrap_or(u64::MAX))
}
