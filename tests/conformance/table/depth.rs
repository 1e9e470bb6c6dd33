use crate::{
    answers::{MALFORMED, UNPROCESSABLE},
    request::{delivery_of, with_article_field, with_field},
    row::{Row, Told::Job, for_sinks, let_in, refused},
};

/// 64 levels, of which the body itself is the first, wherever they are.
pub(super) fn rows() -> Vec<Row> {
    let new = |levels| with_field([r#""new":"#, &arrays(levels)].concat());
    let objects = |levels| with_field([r#""new":"#, &objects(levels)].concat());
    // The key that serde_json has for itself.
    let own_key = |levels| {
        let object = r#"{"$serde_json::private::Number":"#.repeat(levels);
        with_field([r#""new":"#, &object, "0", &"}".repeat(levels)].concat())
    };
    let in_article = |levels| with_article_field([r#""new":"#, &arrays(levels)].concat());
    let title = |levels| with_article_field([r#""meta_title":"#, &arrays(levels)].concat());
    let job_id = |levels| delivery_of([r#"{"job_id":"#, &arrays(levels), "}"].concat());
    let posts = |levels| {
        let arrays = arrays(levels);
        with_field([r#""social_posts":{"x":"#, &arrays, "}"].concat())
    };
    let deep = |situation, request| refused(situation, request, MALFORMED, Job("job_1"));
    let unclosed = delivery_of("[".repeat(100_000));
    let fifty = (0..50).map(|key| format!(r#""{key}":{}"#, arrays(63)));
    let fifty = fifty.collect::<Vec<_>>().join(",");
    vec![
        let_in("64 levels, in an unknown field", new(63)),
        deep("65 levels, in an unknown field", new(64)),
        let_in("64 levels of objects", objects(63)),
        deep("65 levels of objects", objects(64)),
        let_in("64 levels of a parser's own key", own_key(63)),
        deep("65 levels of a parser's own key", own_key(64)),
        let_in("64 levels, in the article", in_article(62)),
        deep("65 levels, in the article", in_article(63)),
        for_sinks("64 levels, where a text belongs", title(62), UNPROCESSABLE),
        deep("65 levels, where a text belongs", title(63)),
        let_in("64 levels, in the social posts", posts(62)),
        deep("65 levels, in the social posts", posts(63)),
        deep("65 levels, where the job id belongs", job_id(64)),
        deep("129 levels", new(128)),
        deep("100000 levels", new(99_999)),
        deep("100000 arrays that nothing closes", unclosed),
        let_in("64 levels, fifty times", with_field(fifty)),
    ]
}

/// The innermost one is empty, and a level like any other.
fn arrays(levels: usize) -> String {
    ["[".repeat(levels), "]".repeat(levels)].concat()
}

fn objects(levels: usize) -> String {
    [r#"{"a":"#.repeat(levels - 1), "{}".into(), "}".repeat(levels - 1)].concat()
}
