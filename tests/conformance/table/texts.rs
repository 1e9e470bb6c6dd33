use crate::{
    answers::MALFORMED,
    request::{ARTICLE, delivery_of, with_article_field, with_field},
    row::{Row, Told::Job, let_in, refused},
};

/// A text is UTF-8 and its escapes are whole, in fields that are read and in those that are not.
pub(super) fn rows() -> Vec<Row> {
    [legal(), bytes(), escapes()].concat()
}

fn field(situation: &'static str, field: impl AsRef<[u8]>) -> Row {
    refused(situation, with_field(field), MALFORMED, Job("job_1"))
}

fn in_article(situation: &'static str, field: impl AsRef<[u8]>) -> Row {
    refused(situation, with_article_field(field), MALFORMED, Job("job_1"))
}

fn whole(situation: &'static str, body: impl AsRef<[u8]>) -> Row {
    refused(situation, delivery_of(body), MALFORMED, Job("job_1"))
}

fn legal() -> Vec<Row> {
    let in_article = |situation, field: &str| let_in(situation, with_article_field(field));
    vec![
        in_article("characters of four bytes", r#""meta_title":"🏃 żółć 日本""#),
        in_article("a pair of surrogates", r#""meta_title":"\ud83c\udfc3""#),
        in_article("every short escape", r#""meta_title":"\"\\\/\b\f\n\r\t""#),
        in_article("a zero character, escaped", r#""meta_title":"a\u0000b""#),
        in_article("the last character there is", r#""meta_title":"\udbff\udfff""#),
        in_article("a delete character as it is", "\"meta_title\":\"\x7f\""),
        in_article("a line separator as it is", "\"meta_title\":\"\u{2028}\""),
    ]
}

fn bytes() -> Vec<Row> {
    let utf16: Vec<u8> = ARTICLE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        whole("a byte order mark", ["\u{feff}", ARTICLE].concat()),
        whole("UTF-16", utf16),
        field("a byte that is no UTF-8", b"\"new\":\"\xff\""),
        field("Latin-1", b"\"new\":\"caf\xe9\""),
        field("a character that was cut", b"\"new\":\"\xf0\x9f\x8f\""),
        field("an overlong zero", b"\"new\":\"\xc0\x80\""),
        field("a surrogate in UTF-8", b"\"new\":\"\xed\xa0\x80\""),
        field("a character beyond the last", b"\"new\":\"\xf4\x90\x80\x80\""),
        field("a byte that is no UTF-8, in a key", b"\"\xff\":0"),
        in_article("a byte that is no UTF-8, in the article", b"\"meta_title\":\"\xff\""),
        field("a line break as it is", "\"new\":\"a\nb\""),
        field("a tab as it is", "\"new\":\"a\tb\""),
        in_article("a zero character as it is", "\"meta_title\":\"a\0b\""),
    ]
}

fn escapes() -> Vec<Row> {
    vec![
        in_article("a high surrogate alone", r#""meta_title":"\ud83c""#),
        in_article("a low surrogate alone", r#""meta_title":"\udfc3""#),
        in_article("surrogates in the wrong order", r#""meta_title":"\udfc3\ud83c""#),
        in_article("two high surrogates", r#""meta_title":"\ud83c\ud83c""#),
        in_article("a high surrogate before a letter", r#""meta_title":"\ud83cx""#),
        field("a high surrogate in an unknown field", r#""new":"\ud83c""#),
        field("a low surrogate in an unknown field", r#""new":"\udfc3""#),
        field("a high surrogate deep in an unknown field", r#""new":[{"a":["\ud83c"]}]"#),
        field("a low surrogate in a social post", r#""social_posts":{"x":["\udfc3"]}"#),
        field("a high surrogate in a key", r#""\ud83c":0"#),
        field("a low surrogate in a key", r#""\udfc3":0"#),
        in_article("a high surrogate in a key of the article", r#""\ud83c":0"#),
        field("a high surrogate in a key of an unknown field", r#""new":{"\ud83c":0}"#),
        field("an escape of two digits", r#""new":"\u0g00""#),
        field("an escape of no standard", r#""new":"\x41""#),
        field("an escape of the end", r#""new":"\"#),
    ]
}
