//! Authentic bodies of shapes that take much memory in a reader that keeps every value.

/// The name of a shape, and a body of nearly a length.
type Shape = (&'static str, fn(usize) -> String);

pub(crate) const SHAPES: [Shape; 18] = [
    ("posts of objects of one field", |length| posts(r#"{"":{"":{"":0}}},"#, length)),
    ("posts of empty arrays", |length| posts("[],", length)),
    ("posts of arrays of one element", |length| posts("[0],", length)),
    ("posts of nested arrays", |length| posts(&nested(60), length)),
    ("posts of numbers", |length| posts("0,", length)),
    ("posts of empty texts", |length| posts("\"\",", length)),
    ("one post of many fields", |length| {
        field(&format!(r#""social_posts":{{"x":[{{{}}}]}}"#, keys(length)))
    }),
    ("one post of escapes", |length| {
        field(&format!(r#""social_posts":{{"x":["{}"]}}"#, escapes(length)))
    }),
    ("unknown fields of the result", |length| field(&keys(length))),
    ("unknown fields of the article", |length| in_article(&keys(length), "")),
    ("unknown fields of the posts", |length| {
        field(&format!(r#""social_posts":{{{}}}"#, keys(length)))
    }),
    ("an unknown field with a long name of escapes", |length| {
        field(&format!(r#""{}":0"#, escapes(length)))
    }),
    ("many unknown fields with long names of escapes", |length| {
        let name = |at: usize| format!(r#""{at}{}":0"#, escapes(length / 64));
        field(&(0..64).map(name).collect::<Vec<_>>().join(","))
    }),
    ("an unknown field of objects", |length| {
        field(&format!(r#""new":[{}0]"#, r#"{"":{"":{"":0}}},"#.repeat(length / 17)))
    }),
    ("html of escapes", |length| in_article("", &escapes(length))),
    ("html of few escapes", |length| {
        in_article("", &"a long text without an escape \\n".repeat(length / 32))
    }),
    ("two texts of escapes", |length| {
        let text = escapes(length / 2);
        in_article(&format!(r#""meta_title":"{text}""#), &text)
    }),
    ("a number of many digits", |length| {
        field(&format!(r#""credits_used":0.{}1"#, "0".repeat(length)))
    }),
];

/// Texts that have to be repaired, and how many times the length of the body they take beyond what a sound body takes: for
/// the copy, and for what is longer in it.
pub(crate) const REPAIRED: [(&str, f64, &[u8]); 6] = [
    ("halves of emoji", 1.0, br"A text. \ud83c"),
    ("Latin-1", 1.2, b"Un caf\xe9 br\xfbl\xe9. "),
    ("raw line breaks", 1.1, b"A paragraph of text.\r\n"),
    ("bytes that are no text", 0.1, b"\xff"),
    ("zeros", 0.1, b"\0"),
    ("the worst", 3.8, b"\n\x01"),
];

/// A result with this field.
fn field(field: &str) -> String {
    format!(
        r#"{{"job_id":"job_1","status":"complete","article":{{"title":"","html":""}},{field}}}"#
    )
}

fn in_article(field: &str, html: &str) -> String {
    let comma = if field.is_empty() { "" } else { "," };
    format!(
        r#"{{"job_id":"job_1","status":"complete","article":{{"title":"","html":"{html}"{comma}{field}}}}}"#
    )
}

/// As many posts as the length allows.
fn posts(post: &str, length: usize) -> String {
    let posts = post.repeat(length / post.len());
    field(&format!(r#""social_posts":{{"x":[{}]}}"#, posts.trim_end_matches(',')))
}

fn nested(levels: usize) -> String {
    ["[".repeat(levels), "]".repeat(levels), ",".to_owned()].concat()
}

/// Fields with different names.
fn keys(length: usize) -> String {
    let mut fields = String::new();
    for key in 0.. {
        if fields.len() >= length {
            break;
        }
        fields += &format!("\"{key:x}\":0,");
    }
    fields.trim_end_matches(',').to_owned()
}

fn escapes(length: usize) -> String {
    r"\n".repeat(length / 2)
}
