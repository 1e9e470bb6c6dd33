use crate::{
    answers::MALFORMED,
    request::{delivery_of, with_article_field, with_field},
    row::{Row, Told::Job, let_in, refused},
};

/// Two parsers may disagree about which value of a repeated key counts, so that no object that is
/// read may have one. The rest is kept as it came.
pub(super) fn rows() -> Vec<Row> {
    [repeated(), unlike()].concat()
}

fn repeated() -> Vec<Row> {
    let field =
        |situation, field: &str| refused(situation, with_field(field), MALFORMED, Job("job_1"));
    let in_article = |situation, field: &str| {
        refused(situation, with_article_field(field), MALFORMED, Job("job_1"))
    };
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
    ]
}

fn unlike() -> Vec<Row> {
    let field = |situation, field: &str| let_in(situation, with_field(field));
    vec![
        field("keys that differ by their case", r#""Job_Id":"job_2","STATUS":7"#),
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
