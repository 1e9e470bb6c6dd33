use crate::{
    answers::{BAD_REQUEST, UNPROCESSABLE},
    request::{ARTICLE, Request, delivery_of, with_article_field, with_field},
    row::{Row, Told::Job, for_sinks, kept, let_in},
};

/// A sink stores what a handler could not be given.
pub(super) fn rows() -> Vec<Row> {
    [optional(), statuses(), undecodable()].concat()
}

/// The event and the content make an article, whatever the status says, but for that of a failure.
fn statuses() -> Vec<Row> {
    let odd = |situation, request: Request| for_sinks(situation, request, UNPROCESSABLE);
    let but = |to: &str| delivery_of(ARTICLE.replacen("complete", to, 1));
    let reports =
        |situation, error: &str| odd(situation, with_field([r#""error":"#, error].concat()));
    let field = |situation, field: &str| let_in(situation, with_field(field));
    let no_status = r#"{"job_id":"job_1","article":{"title":"","html":""}}"#;
    let unnamed = |request: Request| request.without("X-Service-Event");
    let incomplete =
        |situation, request| kept(situation, unnamed(request), BAD_REQUEST, Job("job_1"));
    vec![
        let_in("no status", delivery_of(no_status)),
        let_in("the status in another case", but("Complete")),
        let_in("a synonym of the status", but("succeeded")),
        let_in("a status of the past", but("processing")),
        let_in("a status that is a number", delivery_of(ARTICLE.replacen(r#""complete""#, "1", 1))),
        odd("a job that failed", but("failed")),
        odd("a job that failed, in upper case", but("FAILED")),
        odd("a job that ended in an error", but("error")),
        odd("a job that was cancelled", but("cancelled")),
        odd("a job that was canceled", but("canceled")),
        reports("an article with the error of a failed pipeline", r#""generation_failed""#),
        reports("an article with the error of no credits", r#""credits_exhausted""#),
        field("an article with an error that is null", r#""error":null"#),
        field("an article with an error that is no code", r#""error":"none""#),
        field(
            "an article with an error that is an object",
            r#""error":{"code":"generation_failed"}"#,
        ),
        incomplete("no event, and no status", delivery_of(no_status)),
        incomplete("no event, and a status that may be a draft's", but("processing")),
        let_in("no event, and a synonym of the status", unnamed(but("succeeded"))),
    ]
}

fn optional() -> Vec<Row> {
    let field = |situation, field: &str| let_in(situation, with_field(field));
    let in_article = |situation, field: &str| let_in(situation, with_article_field(field));
    let many = |element: &str| [&element.repeat(4097), "0"].concat();
    let posts = format!(r#""social_posts":{{"x":[{}]}}"#, many("0,"));
    let values = format!(r#""new":[{}]"#, many("{},"));
    let unknown = (0..2000).map(|key| format!(r#""{key}":{key}"#)).collect::<Vec<_>>().join(",");
    let complete = include_str!("../../fixtures/complete.json").replace("job_7c1e4a52", "job_1");
    vec![
        let_in("every documented field", delivery_of(complete)),
        field("the image is null", r#""featured_image":null"#),
        field("an empty image", r#""featured_image":{}"#),
        field("an image of nulls", r#""featured_image":{"url":null,"alt_text":null}"#),
        field("the posts are null", r#""social_posts":null"#),
        field("no posts for a network", r#""social_posts":{"x":[],"linkedin":null}"#),
        field("posts of every kind", r#""social_posts":{"x":[null,true,7,"",[],{}]}"#),
        field("posts of more values than are kept", &posts),
        field("an unknown field of as many values", &values),
        field("2000 fields that are new", &unknown),
        field("the credits are null", r#""credits_used":null"#),
        in_article("a meta title that is null", r#""meta_title":null,"meta_description":null"#),
        in_article("numbers that are null", r#""eeat_score":null,"word_count":null"#),
        in_article("a word count of 44.0", r#""word_count":44.0"#),
        in_article("a word count that is a text", r#""word_count":"44""#),
        field("an image that is a text", r#""featured_image":"a.png""#),
        field("an image's url that is a number", r#""featured_image":{"url":7}"#),
        field("posts that are an array", r#""social_posts":[]"#),
        field("posts for x that are a text", r#""social_posts":{"x":"Read this"}"#),
        field("credits that are a text", r#""credits_used":"5""#),
        field("fields that are new", r#""new":{"a":[null]},"":false"#),
    ]
}

fn undecodable() -> Vec<Row> {
    let odd = |situation, request: Request| for_sinks(situation, request, UNPROCESSABLE);
    let body = |situation, body: &str| odd(situation, delivery_of(body));
    let but = |from: &str, to: &str| delivery_of(ARTICLE.replacen(from, to, 1));
    vec![
        body("a job id and nothing else", r#"{"job_id":"job_1"}"#),
        body("no article", r#"{"job_id":"job_1","status":"complete"}"#),
        body("the article is null", r#"{"job_id":"job_1","status":"complete","article":null}"#),
        body("the article is a text", r#"{"job_id":"job_1","status":"complete","article":""}"#),
        body("an empty article", r#"{"job_id":"job_1","status":"complete","article":{}}"#),
        body(
            "the article in an array",
            r#"{"job_id":"job_1","status":"complete","article":["",""]}"#,
        ),
        odd("no title", but("title", "head")),
        odd("a title that is null", but(r#""Title""#, "null")),
        odd("a title that is a number", but(r#""Title""#, "7")),
        odd("no html", but("html", "text")),
        odd("html that is an array", but(r#""<p>Text</p>""#, "[]")),
    ]
}
