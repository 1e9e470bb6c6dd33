use super::malformed as deep;
use crate::{
    answers::{INVALID_JOB_ID, UNPROCESSABLE},
    request::{delivery_of, with_article_field, with_field},
    row::{Row, Told::Job, for_sinks, kept, let_in},
};

/// 64 levels, of which the body itself is the first, wherever they are.
pub(super) fn rows() -> Vec<Row> {
    [levels(), documented(), far()].concat()
}

fn levels() -> Vec<Row> {
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
    let mixed = |levels| with_field([r#""new":"#, &mixed(levels)].concat());
    let unclosed = delivery_of("[".repeat(100_000));
    let fifty = (0..50).map(|key| format!(r#""{key}":{}"#, arrays(63)));
    let fifty = fifty.collect::<Vec<_>>().join(",");
    vec![
        let_in("64 levels, in an unknown field", new(63)),
        deep("65 levels, in an unknown field", new(64)),
        let_in("64 levels of objects", objects(63)),
        deep("65 levels of objects", objects(64)),
        let_in("64 levels of arrays and objects in turn", mixed(63)),
        deep("65 levels of arrays and objects in turn", mixed(64)),
        let_in("64 levels of a parser's own key", own_key(63)),
        deep("65 levels of a parser's own key", own_key(64)),
        let_in("64 levels, in the article", in_article(62)),
        deep("65 levels, in the article", in_article(63)),
        let_in("64 levels, where a text belongs", title(62)),
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

/// Where a reader knows the field, and may count anew.
fn documented() -> Vec<Row> {
    let at =
        |before: &str, levels, after: &str| with_field([before, &arrays(levels), after].concat());
    let image = |levels| at(r#""featured_image":{"url":"#, levels, "}");
    let new_in_image = |levels| at(r#""featured_image":{"new":"#, levels, "}");
    let network = |levels| at(r#""social_posts":{"new":"#, levels, "}");
    let post = |levels| at(r#""social_posts":{"linkedin":[{"a":"#, levels, "}]}");
    let credits = |levels| at(r#""credits_used":"#, levels, "");
    let whole = |key: &str, levels| {
        let value = arrays(levels);
        delivery_of(format!(r#"{{"job_id":"job_1","{key}":{value}}}"#))
    };
    let job_id = |levels| delivery_of([r#"{"job_id":"#, &arrays(levels), "}"].concat());
    vec![
        let_in("64 levels, where the image's url belongs", image(62)),
        deep("65 levels, where the image's url belongs", image(63)),
        let_in("64 levels, in an unknown field of the image", new_in_image(62)),
        deep("65 levels, in an unknown field of the image", new_in_image(63)),
        let_in("64 levels, in the posts of a new network", network(62)),
        deep("65 levels, in the posts of a new network", network(63)),
        let_in("64 levels, in a field of a social post", post(60)),
        deep("65 levels, in a field of a social post", post(61)),
        let_in("64 levels, where the credits belong", credits(63)),
        deep("65 levels, where the credits belong", credits(64)),
        for_sinks("64 levels, where the status belongs", whole("status", 63), UNPROCESSABLE),
        deep("65 levels, where the status belongs", whole("status", 64)),
        for_sinks("64 levels, where the article belongs", whole("article", 63), UNPROCESSABLE),
        deep("65 levels, where the article belongs", whole("article", 64)),
        kept("64 levels, where the job id belongs", job_id(63), INVALID_JOB_ID, Job("job_1")),
    ]
}

fn far() -> Vec<Row> {
    let new = |value: &str| with_field([r#""new":"#, value].concat());
    let behind = |levels| new(&["[", &"0,".repeat(10_000), &arrays(levels), "]"].concat());
    let spaced = "[ ".repeat(64) + &"] ".repeat(64);
    let in_order = new(&["[", &["[]"; 1000].join(","), "]"].concat());
    vec![
        let_in("64 levels, behind 10000 numbers", behind(62)),
        deep("65 levels, behind 10000 numbers", behind(63)),
        deep("65 levels, with white space between", new(&spaced)),
        deep("65 levels that nothing closes", new(&"[".repeat(64))),
        let_in("1000 arrays beside each other", in_order),
        deep("100000 objects that nothing closes", delivery_of(r#"{"a":"#.repeat(100_000))),
    ]
}

/// The innermost one is empty, and a level like any other.
fn arrays(levels: usize) -> String {
    ["[".repeat(levels), "]".repeat(levels)].concat()
}

fn objects(levels: usize) -> String {
    [r#"{"a":"#.repeat(levels - 1), "{}".into(), "}".repeat(levels - 1)].concat()
}

fn mixed(levels: usize) -> String {
    let open: String = (0..levels).map(|level| [r#"{"a":"#, "["][level % 2]).collect();
    let close: String = (0..levels).rev().map(|level| ["}", "]"][level % 2]).collect();
    [open, "0".into(), close].concat()
}
