use super::malformed;
use crate::{
    answers::MALFORMED,
    request::{ARTICLE, delivery_of, with_field},
    row::{Row, Told::Job, let_in, refused},
};

pub(super) fn rows() -> Vec<Row> {
    [not_an_object(), cut(), punctuation(), keys_and_words(), arrays(), behind(), white_space()]
        .concat()
}

fn body(situation: &'static str, body: impl AsRef<[u8]>) -> Row {
    malformed(situation, delivery_of(body))
}

fn field(situation: &'static str, field: &str) -> Row {
    malformed(situation, with_field(field))
}

fn not_an_object() -> Vec<Row> {
    vec![
        refused("an empty body", delivery_of(""), MALFORMED, Job("job_1")),
        refused("an empty body in chunks", delivery_of("").chunked(1), MALFORMED, Job("job_1")),
        body("white space alone", " \r\n\t "),
        body("null", "null"),
        body("false", "false"),
        body("a number", "44"),
        body("a string", r#""job_1""#),
        body("the object as a string", format!("{ARTICLE:?}")),
        body("an array", "[]"),
        body("an array around the object", ["[", ARTICLE, "]"].concat()),
        body("an array of keys and values", r#"["job_id","job_1","status","complete"]"#),
    ]
}

fn cut() -> Vec<Row> {
    let cut = |missing: usize| &ARTICLE[..ARTICLE.len() - missing];
    vec![
        body("an opening brace", "{"),
        body("no first brace", &ARTICLE[1..]),
        body("no last brace", cut(1)),
        body("no last two braces", cut(2)),
        body("cut in a string", cut(12)),
        body("cut behind a colon", r#"{"job_id":"#),
        body("cut behind a comma", r#"{"job_id":"job_1","#),
        body("cut behind a key", r#"{"job_id":"job_1","status""#),
        body("cut in an escape", r#"{"job_id":"job\u00"#),
        body("cut in a word", r#"{"job_id":"job_1","new":tru"#),
    ]
}

fn punctuation() -> Vec<Row> {
    vec![
        body("a comma too many", r#"{"job_id":"job_1",}"#),
        body("a comma first", r#"{,"job_id":"job_1"}"#),
        body("a comma alone", "{,}"),
        body("two commas in a row", r#"{"job_id":"job_1",,"new":0}"#),
        body("a comma too few", r#"{"job_id":"job_1" "status":"complete"}"#),
        body("a semicolon for a comma", r#"{"job_id":"job_1";"status":"complete"}"#),
        body("no colon", r#"{"job_id" "job_1"}"#),
        body("two colons", r#"{"job_id"::"job_1"}"#),
        body("an equals sign for a colon", r#"{"job_id"="job_1"}"#),
        body("an arrow for a colon", r#"{"job_id"=>"job_1"}"#),
        body("a key without value", r#"{"job_id":"job_1","new"}"#),
        body("a colon without value", r#"{"job_id":"job_1","new":}"#),
        body("a colon without key", r#"{"job_id":"job_1",:0}"#),
        body("a brace that an end of an array closes", r#"{"job_id":"job_1"]"#),
        body("braces in a row", r#"{{"job_id":"job_1"}}"#),
        body("parentheses for braces", r#"("job_id":"job_1")"#),
    ]
}

fn keys_and_words() -> Vec<Row> {
    vec![
        body("single quotes", "{'job_id':'job_1'}"),
        body("a key without quotes", r#"{job_id:"job_1"}"#),
        body("a key that is a number", r#"{1:"job_1"}"#),
        body("a key that is null", r#"{null:0,"job_id":"job_1"}"#),
        body("a key that is an array", r#"{["job_id"]:"job_1"}"#),
        body("a key in typographic quotes", r#"{“job_id”:"job_1"}"#),
        field("True", r#""new":True"#),
        field("NULL", r#""new":NULL"#),
        field("None", r#""new":None"#),
        field("undefined as a value", r#""new":undefined"#),
        field("a word that was cut", r#""new":fals"#),
        field("a word that goes on", r#""new":nullnull"#),
        field("a text without quotes", r#""new":complete"#),
        field("an ellipsis", "..."),
    ]
}

/// In an unknown field.
fn arrays() -> Vec<Row> {
    vec![
        field("a comma too many in an array", r#""new":[1,]"#),
        field("a comma first in an array", r#""new":[,1]"#),
        field("a comma too few in an array", r#""new":[1 2]"#),
        field("an array that a brace closes", r#""new":[1}"#),
        field("an array that nothing closes", r#""new":[1"#),
        field("an array closed twice", r#""new":[1]]"#),
        field("a key in an array", r#""new":["a":1]"#),
        field("a hole in an array", r#""new":[1,,2]"#),
        field("a comma too many in an inner object", r#""new":{"a":1,}"#),
        field("a key without quotes in an inner object", r#""new":{a:1}"#),
        field("a comma too many in a social post", r#""social_posts":{"x":[{"a":1,}]}"#),
    ]
}

/// Whatever follows, a proxy or another parser may take it for what counts.
fn behind() -> Vec<Row> {
    let behind = |situation, more: &str| body(situation, [ARTICLE, more].concat());
    vec![
        behind("two objects", ARTICLE),
        behind("an empty object behind the object", "{}"),
        behind("a brace too many", "}"),
        behind("a comma behind the object", ","),
        behind("a semicolon behind the object", ";"),
        behind("null behind the object", "null"),
        behind("a zero byte behind the object", "\0"),
        behind("an end-of-file character behind the object", "\x1a"),
        behind("a comment behind the object", "// end"),
    ]
}

fn white_space() -> Vec<Row> {
    let around = delivery_of([" \r\n\t", ARTICLE, " \r\n\t"].concat());
    let spaced = ARTICLE.replace(':', " :\t").replace(',', "\r\n,\n");
    let returns = ARTICLE.replace(',', "\r,\r");
    let far = [&" ".repeat(100_000), ARTICLE].concat();
    let many_keys: String = (0..20_000).map(|key| format!(r#""{key}":[],"#)).collect();
    let between =
        |situation, c: &str| body(situation, ARTICLE.replacen(',', &[",", c].concat(), 1));
    vec![
        let_in("white space around the object", around),
        let_in("white space between all", delivery_of(spaced)),
        let_in("carriage returns for line ends", delivery_of(returns)),
        let_in("100000 spaces before the object", delivery_of(far)),
        let_in("20000 more keys", with_field(many_keys + r#""last":0"#)),
        between("a form feed between two fields", "\x0c"),
        between("a vertical tab between two fields", "\x0b"),
        between("a zero byte between two fields", "\0"),
        between("a next-line character between two fields", "\u{85}"),
        between("a no-break space between two fields", "\u{a0}"),
        between("a line separator between two fields", "\u{2028}"),
        between("an ideographic space between two fields", "\u{3000}"),
        between("a space of no width between two fields", "\u{200b}"),
        body("a no-break space before the object", ["\u{a0}", ARTICLE].concat()),
    ]
}
