//! Authentic bodies of shapes that take much memory in a reader that keeps every value.

pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// A body of nearly this length.
    pub(crate) body: fn(usize) -> String,
}

pub(crate) const SHAPES: [Shape; 18] = [
    Shape {
        name: "posts of objects of one field",
        body: |length| posts(r#"{"":{"":{"":0}}},"#, length),
    },
    Shape { name: "posts of empty arrays", body: |length| posts("[],", length) },
    Shape { name: "posts of arrays of one element", body: |length| posts("[0],", length) },
    Shape { name: "posts of nested arrays", body: |length| posts(&nested(60), length) },
    Shape { name: "posts of numbers", body: |length| posts("0,", length) },
    Shape { name: "posts of empty texts", body: |length| posts("\"\",", length) },
    Shape {
        name: "one post of many fields",
        body: |length| field(&format!(r#""social_posts":{{"x":[{{{}}}]}}"#, keys(length))),
    },
    Shape {
        name: "one post of escapes",
        body: |length| field(&format!(r#""social_posts":{{"x":["{}"]}}"#, escapes(length))),
    },
    Shape { name: "unknown fields of the result", body: |length| field(&keys(length)) },
    Shape { name: "unknown fields of the article", body: |length| in_article(&keys(length), "") },
    Shape {
        name: "unknown fields of the posts",
        body: |length| field(&format!(r#""social_posts":{{{}}}"#, keys(length))),
    },
    Shape {
        name: "an unknown field with a long name of escapes",
        body: |length| field(&format!(r#""{}":0"#, escapes(length))),
    },
    Shape {
        name: "many unknown fields with long names of escapes",
        body: |length| {
            let name = |at: usize| format!(r#""{at}{}":0"#, escapes(length / 64));
            field(&(0..64).map(name).collect::<Vec<_>>().join(","))
        },
    },
    Shape {
        name: "an unknown field of objects",
        body: |length| {
            field(&format!(r#""new":[{}0]"#, r#"{"":{"":{"":0}}},"#.repeat(length / 17)))
        },
    },
    Shape { name: "html of escapes", body: |length| in_article("", &escapes(length)) },
    Shape {
        name: "html of few escapes",
        body: |length| in_article("", &"a long text without an escape \\n".repeat(length / 32)),
    },
    Shape {
        name: "two texts of escapes",
        body: |length| {
            let text = escapes(length / 2);
            in_article(&format!(r#""meta_title":"{text}""#), &text)
        },
    },
    Shape {
        name: "a number of many digits",
        body: |length| field(&format!(r#""credits_used":0.{}1"#, "0".repeat(length))),
    },
];

/// A text that has to be repaired.
pub(crate) struct Repaired {
    pub(crate) name: &'static str,
    /// How many times the length of the body it takes beyond what a sound body takes: for the copy, and for what is
    /// longer in it.
    pub(crate) more: f64,
    pub(crate) html: &'static [u8],
}

pub(crate) const REPAIRED: [Repaired; 6] = [
    Repaired { name: "halves of emoji", more: 1.0, html: br"A text. \ud83c" },
    Repaired { name: "Latin-1", more: 1.2, html: b"Un caf\xe9 br\xfbl\xe9. " },
    Repaired { name: "raw line breaks", more: 1.1, html: b"A paragraph of text.\r\n" },
    Repaired { name: "bytes that are no text", more: 0.1, html: b"\xff" },
    Repaired { name: "zeros", more: 0.1, html: b"\0" },
    Repaired { name: "the worst", more: 3.8, html: b"\n\x01" },
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
