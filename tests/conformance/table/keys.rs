use super::malformed;
use crate::{
    request::{ARTICLE, delivery_of, with_article_field, with_field},
    row::{Row, let_in},
};

/// Two parsers may disagree about which value of a repeated key counts, so that no object that is
/// read may have one. The rest is kept as it came.
pub(super) fn rows() -> Vec<Row> {
    [repeated(), in_inner_objects(), unlike()].concat()
}

fn repeated() -> Vec<Row> {
    let field = |situation, field: &str| malformed(situation, with_field(field));
    let body = |situation, body: &str| malformed(situation, delivery_of(body));
    let around = [r#"{"job_id":"job_2","#, &ARTICLE[1..]].concat();
    let many: String = (0..100).map(|key| format!(r#""{key}":0,"#)).collect();
    vec![
        field("the job id twice, equal", r#""job_id":"job_1""#),
        field("two job ids in the body", r#""job_id":"job_2""#),
        field("the job id again, null", r#""job_id":null"#),
        field("the job id twice, by an escape", r#""job\u005fid":"job_1""#),
        field("the job id twice, by other escapes", r#""\u006Aob_id":"job_2""#),
        field("the status twice", r#""status":"complete""#),
        field("the article twice", r#""article":{}"#),
        field("an unknown key twice", r#""new":1,"new":2"#),
        field("the empty key twice", r#""":1,"":1"#),
        field("the hundredth key twice", &(many + r#""99":0"#)),
        field("the credits twice", r#""credits_used":5,"credits_used":5"#),
        field("the credits again, null first", r#""credits_used":null,"credits_used":5"#),
        field("the image twice", r#""featured_image":{},"featured_image":{}"#),
        field("the posts twice", r#""social_posts":null,"social_posts":{}"#),
        field("two statuses, by an escape", r#""st\u0061tus":"failed""#),
        field("the article again, by an escape", r#""\u0061rticle":null"#),
        field("an unknown key as it is and as surrogates", r#""🏃":0,"\ud83c\udfc3":0"#),
        field("an unknown key with a slash, escaped and not", r#""a/b":0,"a\/b":0"#),
        field("the job id three times", r#""job_id":"job_1","job_id":"job_1""#),
        body("another job id first", &around),
        body("a job id that is none first", r#"{"job_id":7,"job_id":"job_1"}"#),
        body("a job id that is none last", r#"{"job_id":"job_1","job_id":{}}"#),
        body("two articles that are none", r#"{"job_id":"job_1","article":7,"article":8}"#),
    ]
}

fn in_inner_objects() -> Vec<Row> {
    let field = |situation, field: &str| malformed(situation, with_field(field));
    let in_article = |situation, field: &str| malformed(situation, with_article_field(field));
    vec![
        in_article("the title twice", r#""title":"Title""#),
        in_article("two titles, by an escape", r#""t\u0069tle":"Other""#),
        in_article("the html twice", r#""html":"""#),
        in_article("an unknown key of the article twice", r#""new":1,"new":1"#),
        field("the image's url twice", r#""featured_image":{"url":"a","url":"b"}"#),
        field(
            "the image's url twice, by an escape",
            r#""featured_image":{"url":"a","\u0075rl":"b"}"#,
        ),
        field("the posts for x twice", r#""social_posts":{"x":[],"x":[]}"#),
        in_article("two titles, the second of them null", r#""title":null"#),
        in_article("the meta title twice", r#""meta_title":"","meta_title":"""#),
        in_article("the word count twice", r#""word_count":1,"word_count":1.0"#),
        in_article("the score twice, null first", r#""eeat_score":null,"eeat_score":9"#),
        field("the alternative text twice", r#""featured_image":{"alt_text":"","alt_text":null}"#),
        field("an unknown key of the image twice", r#""featured_image":{"new":1,"new":2}"#),
        field("the posts for linkedin twice", r#""social_posts":{"linkedin":null,"linkedin":[]}"#),
        field("a new network twice", r#""social_posts":{"new":[],"new":[]}"#),
    ]
}

fn unlike() -> Vec<Row> {
    let field = |situation, field: &str| let_in(situation, with_field(field));
    vec![
        field("keys that differ by their case", r#""Job_Id":"job_2","STATUS":7"#),
        field("keys that differ by their composition", "\"caf\u{e9}\":0,\"cafe\u{301}\":0"),
        field("keys that differ by white space", r#""job_id ":"job_2"," status":7"#),
        field("keys that differ by an escaped backslash", r#""a\\u0062":0,"ab":0"#),
        field(
            "a title beside the article's, in the image",
            r#""featured_image":{"title":"Other"}"#,
        ),
        field("keys that differ by a zero character", r#""job_id\u0000":"job_2""#),
        field("a key of the article beside it", r#""title":"Other","html":7"#),
        field("a repeated key within an unknown field", r#""new":{"a":1,"a":2}"#),
        field("a repeated key within a social post", r#""social_posts":{"x":[{"a":1,"a":2}]}"#),
        let_in(
            "the keys in another order",
            delivery_of(
                r#"{"article":{"html":"","title":""},"status":"complete","job_id":"job_1"}"#,
            ),
        ),
    ]
}
