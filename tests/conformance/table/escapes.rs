use super::malformed;
use crate::{
    request::{ARTICLE, delivery_of, with_article_field, with_field},
    row::{Row, let_in},
};

/// Every escape is whole and of the standard, in fields that are read and in those that are not. Half of a pair of
/// surrogates is repaired, but not in a name or in the job id.
pub(super) fn rows() -> Vec<Row> {
    [legal(), surrogates(), unread(), digits(), of_other_languages()].concat()
}

fn in_title(situation: &'static str, text: &str) -> Row {
    let field = [r#""meta_title":""#, text, "\""].concat();
    malformed(situation, with_article_field(field))
}

fn field(situation: &'static str, field: &str) -> Row {
    malformed(situation, with_field(field))
}

fn legal() -> Vec<Row> {
    let in_title = |situation, text: &str| {
        let_in(situation, with_article_field([r#""meta_title":""#, text, "\""].concat()))
    };
    vec![
        in_title("a pair of surrogates", r"\ud83c\udfc3"),
        in_title("a pair of surrogates in mixed letter cases", r"\uD83c\uDFc3"),
        in_title("two pairs of surrogates", r"\ud83c\udfc3\ud83c\udfc3"),
        in_title("every short escape", r#"\"\\\/\b\f\n\r\t"#),
        in_title("a zero character, escaped", r"a\u0000b"),
        in_title("the last character there is", r"\udbff\udfff"),
        in_title("a character that is none", r"\uffff"),
        in_title("a byte order mark, escaped", r"\ufeff"),
        in_title("an escaped backslash before what looks like an escape", r"\\ud83c"),
    ]
}

fn surrogates() -> Vec<Row> {
    let half = |situation, text: &str| {
        let_in(situation, with_article_field([r#""meta_title":""#, text, "\""].concat()))
    };
    vec![
        half("a high surrogate alone", r"\ud83c"),
        half("a low surrogate alone", r"\udfc3"),
        half("surrogates in the wrong order", r"\udfc3\ud83c"),
        half("two high surrogates", r"\ud83c\ud83c"),
        half("two high surrogates before a low one", r"\ud83c\ud83c\udfc3"),
        half("a high surrogate before a letter", r"\ud83cx"),
        half("a high surrogate before another escape", r"\ud83c\n\udfc3"),
        half("a high surrogate before an escaped letter", r"\ud83c\u0061"),
        half("a high surrogate before an escaped backslash", r"\ud83c\\udfc3"),
        in_title("a high surrogate before half an escape", r"\ud83c\ud"),
        half("a low surrogate behind a pair", r"\ud83c\udfc3\udfc3"),
        half("the first high surrogate", r"\ud800"),
        half("the last low surrogate", r"\udfff"),
    ]
}

fn unread() -> Vec<Row> {
    let in_article = |situation, field: &str| malformed(situation, with_article_field(field));
    let half = |situation, field: &str| let_in(situation, with_field(field));
    let in_id =
        |situation, id: &str| malformed(situation, delivery_of(ARTICLE.replace("job_1", id)));
    vec![
        half("a high surrogate in an unknown field", r#""new":"\ud83c""#),
        half("a low surrogate in an unknown field", r#""new":"\udfc3""#),
        half("a high surrogate deep in an unknown field", r#""new":[{"a":["\ud83c"]}]"#),
        half("a low surrogate in a social post", r#""social_posts":{"x":["\udfc3"]}"#),
        half("a high surrogate in an image", r#""featured_image":{"alt_text":"\ud83c"}"#),
        half("a high surrogate where a number belongs", r#""credits_used":"\ud83c""#),
        field("a high surrogate in a key", r#""\ud83c":0"#),
        field("a low surrogate in a key", r#""\udfc3":0"#),
        in_article("a high surrogate in a key of the article", r#""\ud83c":0"#),
        field("a high surrogate in a key of an unknown field", r#""new":{"\ud83c":0}"#),
        field("two halves of surrogates in two keys", r#""\ud83c":0,"\udfc3":0"#),
        in_id("a high surrogate in the job id", r"job_1\ud83c"),
        in_id("a low surrogate in the job id", r"\udfc3job_1"),
        field("an escape of no standard in a key", r#""\x41":0"#),
        field("an escape of no standard in a social post", r#""social_posts":{"x":["\a"]}"#),
    ]
}

fn digits() -> Vec<Row> {
    vec![
        field("an escape of two digits", r#""new":"\u0g00""#),
        in_title("an escape without digits", r"\u"),
        in_title("an escape of three digits", r"\u006"),
        in_title("an escape with a space between its digits", r"\u 0061"),
        in_title("an escape with a plus sign", r"\u+061"),
        in_title("an escape with a minus sign", r"\u-061"),
        in_title("an escape in braces", r"\u{61}"),
        in_title("an escape of full-width digits", r"\u００６１"),
        in_title("an escape that says hexadecimal", r"\u0x61"),
    ]
}

fn of_other_languages() -> Vec<Row> {
    vec![
        field("an escape of no standard", r#""new":"\x41""#),
        field("an escape of the end", r#""new":"\"#),
        in_title("an escape of eight digits", r"\U0001f3c3"),
        in_title("an octal escape", r"\101"),
        in_title("an escaped zero", r"\0"),
        in_title("an escaped single quote", r"\'"),
        in_title("an escaped letter", r"\a"),
        in_title("a vertical tab's escape", r"\v"),
        in_title("an escape character's escape", r"\e"),
        in_title("a short escape in upper case", r"\N"),
        in_title("an escaped line break", "\\\n"),
        in_title("a named character", r"\N{BULLET}"),
    ]
}
