use crate::{
    answers::MALFORMED,
    request::{ARTICLE, delivery_of, with_field},
    row::{Row, Told::Job, let_in, refused},
};

pub(super) fn rows() -> Vec<Row> {
    [not_an_object(), grammar(), white_space(), numbers()].concat()
}

fn malformed(situation: &'static str, body: impl AsRef<[u8]>) -> Row {
    refused(situation, delivery_of(body), MALFORMED, Job("job_1"))
}

fn malformed_field(situation: &'static str, field: &str) -> Row {
    refused(situation, with_field(field), MALFORMED, Job("job_1"))
}

fn not_an_object() -> Vec<Row> {
    vec![
        malformed("an empty body", ""),
        malformed("white space alone", " \r\n\t "),
        malformed("null", "null"),
        malformed("a number", "44"),
        malformed("a string", r#""job_1""#),
        malformed("an array", "[]"),
        malformed("an array around the object", ["[", ARTICLE, "]"].concat()),
        malformed("a form for a body", "job_id=job_1&status=complete"),
    ]
}

fn grammar() -> Vec<Row> {
    let cut = |missing: usize| &ARTICLE[..ARTICLE.len() - missing];
    vec![
        malformed("an opening brace", "{"),
        malformed("no last brace", cut(1)),
        malformed("cut in a string", cut(12)),
        malformed("cut behind a colon", r#"{"job_id":"#),
        malformed("a comma too many", r#"{"job_id":"job_1",}"#),
        malformed("a comma too few", r#"{"job_id":"job_1" "status":"complete"}"#),
        malformed("single quotes", "{'job_id':'job_1'}"),
        malformed("a key without quotes", r#"{job_id:"job_1"}"#),
        malformed("a key that is a number", r#"{1:"job_1"}"#),
        malformed("a comment", r#"{"job_id":"job_1"/**/}"#),
        malformed("True", r#"{"job_id":"job_1","new":True}"#),
        malformed("two objects", [ARTICLE, ARTICLE].concat()),
        malformed("a brace too many", [ARTICLE, "}"].concat()),
        malformed("a comma behind the object", [ARTICLE, ","].concat()),
        malformed("a zero byte behind the object", [ARTICLE, "\0"].concat()),
    ]
}

fn white_space() -> Vec<Row> {
    let around = delivery_of([" \r\n\t", ARTICLE, " \r\n\t"].concat());
    let spaced = ARTICLE.replace(':', " :\t").replace(',', "\r\n,\n");
    let many_keys: String = (0..20_000).map(|key| format!(r#""{key}":[],"#)).collect();
    vec![
        let_in("white space around the object", around),
        let_in("white space between all", delivery_of(spaced)),
        let_in("20000 more keys", with_field(many_keys + r#""last":0"#)),
        malformed("a form feed between two fields", "{\"job_id\":\"job_1\",\x0c\"new\":0}"),
        malformed("a no-break space before the object", ["\u{a0}", ARTICLE].concat()),
    ]
}

fn numbers() -> Vec<Row> {
    let new = |situation, number: &str| let_in(situation, with_field(format!(r#""new":{number}"#)));
    let credits = |situation, number: &str| {
        let_in(situation, with_field(format!(r#""credits_used":{number}"#)))
    };
    vec![
        credits("an integer", "44"),
        credits("an integer with a fraction of zero", "44.0"),
        credits("a fraction", "0.5"),
        credits("a negative number", "-3"),
        credits("minus zero", "-0"),
        credits("an exponent", "4.4E+1"),
        new("a number that no integer holds", "123456789012345678901234567890"),
        new("a number that is next to nothing", "1e-999"),
        // No double holds it, and the parser of this project has no other number.
        malformed_field("a number that no double holds", r#""new":1e999"#),
        malformed_field("a number of credits that no double holds", r#""credits_used":1e999"#),
        malformed_field("a leading zero", r#""new":044"#),
        malformed_field("a leading plus", r#""new":+44"#),
        malformed_field("a leading point", r#""new":.5"#),
        malformed_field("a trailing point", r#""new":44."#),
        malformed_field("an exponent without digits", r#""new":4e"#),
        malformed_field("hexadecimal digits", r#""new":0x2c"#),
        malformed_field("NaN", r#""new":NaN"#),
        malformed_field("-Infinity", r#""new":-Infinity"#),
    ]
}
