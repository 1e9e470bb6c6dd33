use super::malformed;
use crate::{
    request::{ARTICLE, Request, delivery_of, with_article_field, with_field},
    row::{Row, let_in},
};

/// Outside strings, in names and in the job id a body is UTF-8. In other strings, and before the object, it is repaired.
pub(super) fn rows() -> Vec<Row> {
    [legal(), sequences(), places(), marks(), encodings()].concat()
}

/// These bytes in the text of an unknown field.
fn unread(bytes: &[u8]) -> Request {
    with_field([b"\"new\":\"", bytes, b"\""].concat())
}

fn legal() -> Vec<Row> {
    let in_article = |situation, field: &str| let_in(situation, with_article_field(field));
    vec![
        in_article("characters of four bytes", r#""meta_title":"🏃 żółć 日本""#),
        in_article("a delete character as it is", "\"meta_title\":\"\x7f\""),
        in_article("a next-line character as it is", "\"meta_title\":\"\u{85}\""),
        in_article("a line separator as it is", "\"meta_title\":\"\u{2028}\""),
        in_article("a byte order mark in a text", "\"meta_title\":\"\u{feff}\""),
        in_article(
            "characters at the limits of their lengths",
            "\"meta_title\":\"\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\"",
        ),
    ]
}

fn sequences() -> Vec<Row> {
    let text = |situation, bytes: &[u8]| let_in(situation, unread(bytes));
    vec![
        text("a byte that is no UTF-8", b"\xff"),
        text("another byte that is no UTF-8", b"\xfe"),
        text("a continuation byte alone", b"\x80"),
        text("a continuation byte too many", b"\xc3\xa9\xa9"),
        text("Latin-1", b"caf\xe9"),
        text("quotation marks of Windows-1252", b"\x93a\x94"),
        text("a character of two bytes that was cut", b"\xc3"),
        text("a character of three bytes that was cut", b"\xe2\x82"),
        text("a character that was cut", b"\xf0\x9f\x8f"),
        text("a character that another interrupts", b"\xf0\x9f\xc3\xa9\x8f\x83"),
        text("an overlong zero", b"\xc0\x80"),
        text("an overlong slash", b"\xc0\xaf"),
        text("an overlong quotation mark", b"\xc0\xa2"),
        text("an overlong sequence of three bytes", b"\xe0\x9f\xbf"),
        text("an overlong sequence of four bytes", b"\xf0\x8f\xbf\xbf"),
        text("a surrogate in UTF-8", b"\xed\xa0\x80"),
        text("a pair of surrogates in UTF-8", b"\xed\xa0\xbc\xed\xbf\x83"),
        text("a character beyond the last", b"\xf4\x90\x80\x80"),
        text("a sequence of five bytes", b"\xf8\x88\x80\x80\x80"),
        text("a sequence of six bytes", b"\xfc\x84\x80\x80\x80\x80"),
    ]
}

fn places() -> Vec<Row> {
    let field = |situation, field: &[u8]| malformed(situation, with_field(field));
    let repaired = |situation, field: &[u8]| let_in(situation, with_field(field));
    let in_id = b"{\"job_id\":\"job_\xff\",\"status\":\"complete\"}";
    vec![
        field("a byte that is no UTF-8, in a key", b"\"\xff\":0"),
        field("two bytes that are no UTF-8, in two keys", b"\"\xff\":0,\"\xfe\":0"),
        field("a byte that is no UTF-8, in a key of an unknown field", b"\"new\":{\"\xff\":0}"),
        let_in(
            "a byte that is no UTF-8, in the article",
            with_article_field(b"\"meta_title\":\"\xff\""),
        ),
        repaired(
            "a byte that is no UTF-8, in a social post",
            b"\"social_posts\":{\"x\":[\"\xff\"]}",
        ),
        field("a byte that is no UTF-8, in a number's place", b"\"credits_used\":\xff"),
        malformed("a byte that is no UTF-8, in the job id", delivery_of(in_id)),
        malformed(
            "a byte that is no UTF-8, before the object",
            delivery_of([b"\xff", ARTICLE.as_bytes()].concat()),
        ),
        malformed(
            "a byte that is no UTF-8, behind the object",
            delivery_of([ARTICLE.as_bytes(), b"\xff"].concat()),
        ),
        malformed(
            "half a character behind the object",
            delivery_of([ARTICLE.as_bytes(), b"\xc3"].concat()),
        ),
        let_in(
            "a character that chunks cut, and that never ends",
            unread(b"\xf0\x9f\x8f").chunked(1),
        ),
    ]
}

fn marks() -> Vec<Row> {
    let body = |situation, body: &str| malformed(situation, delivery_of(body));
    vec![
        let_in("a byte order mark", delivery_of(["\u{feff}", ARTICLE].concat())),
        body("two byte order marks", &["\u{feff}\u{feff}", ARTICLE].concat()),
        body("a byte order mark behind white space", &["\n\u{feff}", ARTICLE].concat()),
        body("a byte order mark behind the object", &[ARTICLE, "\u{feff}"].concat()),
        body("a byte order mark between two fields", &ARTICLE.replacen(',', ",\u{feff}", 1)),
        body("a byte order mark and nothing else", "\u{feff}"),
    ]
}

/// RFC 8259, section 8.1: JSON between systems is UTF-8. A receiver that guesses can guess wrong.
fn encodings() -> Vec<Row> {
    let body = |situation, body: Vec<u8>| malformed(situation, delivery_of(body));
    let little: Vec<u8> = ARTICLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = ARTICLE.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let wide = |to_bytes: fn(u32) -> [u8; 4]| {
        ARTICLE.chars().flat_map(|c| to_bytes(c.into())).collect::<Vec<u8>>()
    };
    vec![
        body("UTF-16 that begins with its mark", [b"\xff\xfe", &little[..]].concat()),
        body("UTF-16, big end first, that begins with its mark", [b"\xfe\xff", &big[..]].concat()),
        body("UTF-16", little),
        body("UTF-16, big end first", big),
        body("UTF-32", wide(u32::to_le_bytes)),
        body("UTF-32, big end first", wide(u32::to_be_bytes)),
        body("UTF-7", ARTICLE.replace('{', "+AHs-").into()),
    ]
}
