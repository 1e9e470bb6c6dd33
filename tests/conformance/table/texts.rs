use super::malformed;
use crate::{
    request::{ARTICLE, delivery_of, with_article_field, with_field},
    row::{Row, let_in},
};

/// A text ends where it says. A control character as it is gets repaired, but not in a name or in the job id.
pub(super) fn rows() -> Vec<Row> {
    [controls(), quotes(), long()].concat()
}

fn controls() -> Vec<Row> {
    let in_title = |situation, text: &str| {
        let field = [r#""meta_title":""#, text, "\""].concat();
        let_in(situation, with_article_field(field))
    };
    let field = |situation, field: &str| malformed(situation, with_field(field));
    let repaired = |situation, field: &str| let_in(situation, with_field(field));
    vec![
        repaired("a line break as it is", "\"new\":\"a\nb\""),
        repaired("a tab as it is", "\"new\":\"a\tb\""),
        in_title("a zero character as it is", "a\0b"),
        in_title("a backspace as it is", "a\x08b"),
        in_title("a vertical tab as it is", "a\x0bb"),
        in_title("a form feed as it is", "a\x0cb"),
        in_title("a carriage return as it is", "a\rb"),
        in_title("an escape character as it is", "a\x1b[31mb"),
        in_title("the last control character as it is", "a\x1fb"),
        field("a line break in a key", "\"a\nb\":0"),
        field("a zero character in a key", "\"a\0b\":0"),
        repaired("a tab in a social post", "\"social_posts\":{\"x\":[\"a\tb\"]}"),
        malformed(
            "a line break in the job id",
            delivery_of(ARTICLE.replacen("job_1", "job_1\n", 1)),
        ),
    ]
}

fn quotes() -> Vec<Row> {
    let field = |situation, field: &str| malformed(situation, with_field(field));
    vec![
        field("a text without its last quote", r#""new":"a"#),
        field("a text without its first quote", r#""new":a""#),
        field("a key without its last quote", r#""new:0"#),
        field("a quote in a text", r#""new":"a"b""#),
        field("two texts in a row", r#""new":"a" "b""#),
        field("two texts with a plus sign between", r#""new":"a"+"b""#),
        field("a text in single quotes", r#""new":'a'"#),
        field("a text in backticks", r#""new":`a`"#),
        field("a text in typographic quotes", r#""new":“a”"#),
        field("a text in three quotes", r#""new":"""a""""#),
        field("a raw text", r#""new":r"a""#),
    ]
}

fn long() -> Vec<Row> {
    let text = |unit: &str, count| ["\"", &unit.repeat(count), "\""].concat();
    let title = [r#""meta_title":"#, &text("ż", 500_000)].concat();
    let escaped = [r#""meta_title":"#, &text(r"\u017c", 200_000)].concat();
    let brackets = [r#""new":"#, &text("[{", 100_000)].concat();
    let key = text("k", 1 << 20);
    let once = [&key, ":0"].concat();
    let twice = [&key, ":0,", &key, ":0"].concat();
    let unended = [r#""new":""#, &"x".repeat(1 << 20)].concat();
    vec![
        let_in("a title of 1 MB", with_article_field(title)),
        let_in("a title of 1.2 MB in escapes", with_article_field(escaped)),
        let_in("200000 brackets in a text", with_field(brackets)),
        let_in("a key of 1 MiB", with_field(once)),
        malformed("a key of 1 MiB twice", with_field(twice)),
        malformed("a text of 1 MiB that does not end", with_field(unended)),
    ]
}
