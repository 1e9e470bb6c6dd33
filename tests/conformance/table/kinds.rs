use crate::{
    answers::UNPROCESSABLE,
    request::{ARTICLE, Request, delivery_of, with_article_field, with_field},
    row::{Row, for_sinks, let_in},
};

/// Values of the wrong kind, where a lenient reader would make the right one of them. A required field must have its
/// kind; an optional one is missing. The status is optional.
pub(super) fn rows() -> Vec<Row> {
    [objects(), texts(), numbers(), lists(), inner_fields()].concat()
}

fn odd(situation: &'static str, request: Request) -> Row {
    for_sinks(situation, request, UNPROCESSABLE)
}

fn field(situation: &'static str, field: &str) -> Row {
    let_in(situation, with_field(field))
}

fn in_article(situation: &'static str, field: &str) -> Row {
    let_in(situation, with_article_field(field))
}

fn but(from: &str, to: &str) -> Request {
    delivery_of(ARTICLE.replacen(from, to, 1))
}

/// A derived struct takes an array for an object, and a query string's reader a text.
fn objects() -> Vec<Row> {
    let article = r#"{"title":"Title","html":"<p>Text</p>"}"#;
    let instead = |situation, value: &str| odd(situation, but(article, value));
    vec![
        instead("the article is an array of its values", r#"["Title","<p>Text</p>"]"#),
        instead("the article in an array of one", &["[", article, "]"].concat()),
        instead("the article is JSON in a text", &format!("{article:?}")),
        instead("the article is its html", r#""<p>Text</p>""#),
        instead("the article is true", "true"),
        instead("the article is a number", "1"),
        field("the image is an array of its values", r#""featured_image":["a.png","A"]"#),
        field("the image in an array of one", r#""featured_image":[{"url":"a.png"}]"#),
        field("an array of one text for the image", r#""featured_image":["a.png"]"#),
        field("an array of two images", r#""featured_image":[{"url":"a.png"},{"url":"b.png"}]"#),
        field("an array of an array for the image", r#""featured_image":[["a.png"]]"#),
        field("an empty text for the image", r#""featured_image":"""#),
        field("the image is an empty array", r#""featured_image":[]"#),
        field("the image is false", r#""featured_image":false"#),
        field("the posts are an array of their values", r#""social_posts":[["a"],["b"]]"#),
        field("the posts are a text", r#""social_posts":"""#),
        field("the posts are a number", r#""social_posts":0"#),
    ]
}

fn texts() -> Vec<Row> {
    let title = |situation, value: &str| odd(situation, but(r#""Title""#, value));
    let html = |situation, value: &str| odd(situation, but(r#""<p>Text</p>""#, value));
    let status = |situation, value: &str| let_in(situation, but(r#""complete""#, value));
    vec![
        title("a title that is an array of one", r#"["Title"]"#),
        title("a title that is an array of bytes", "[84,105]"),
        title("a title that is an object", r#"{"text":"Title"}"#),
        title("a title that is false", "false"),
        html("html that is null", "null"),
        html("html that is an object", r#"{"html":"<p>Text</p>"}"#),
        html("html that is a number", "0"),
        status("a status that is null", "null"),
        status("a status that is true", "true"),
        status("a status that is an array of one", r#"["complete"]"#),
        status("a status that is an object", r#"{"complete":null}"#),
        status("a status that is empty", r#""""#),
        status("a status with a space behind it", r#""complete ""#),
        status("a status that goes on", r#""completed""#),
    ]
}

fn numbers() -> Vec<Row> {
    vec![
        field("credits that are true", r#""credits_used":true"#),
        field("credits that are an array of one", r#""credits_used":[5]"#),
        field("credits that are an object", r#""credits_used":{"amount":5}"#),
        field("credits that are a parser's own number", r#""credits_used":{"$number":"5"}"#),
        in_article("a word count that is false", r#""word_count":false"#),
        in_article("a word count that is an object", r#""word_count":{}"#),
        in_article("a score that is a text", r#""eeat_score":"92/100""#),
        in_article("a score that is an array", r#""eeat_score":[92]"#),
    ]
}

fn lists() -> Vec<Row> {
    vec![
        field("posts for x that are an object", r#""social_posts":{"x":{"0":"a"}}"#),
        field("posts for x that are a number", r#""social_posts":{"x":1}"#),
        field("posts for linkedin that are a text", r#""social_posts":{"linkedin":"a"}"#),
        field("posts for linkedin that are an object", r#""social_posts":{"linkedin":{}}"#),
        field("posts for linkedin that are false", r#""social_posts":{"linkedin":false}"#),
    ]
}

fn inner_fields() -> Vec<Row> {
    vec![
        in_article("a meta title that is a number", r#""meta_title":7"#),
        in_article("a meta title that is an array", r#""meta_title":["a"]"#),
        in_article("a meta description that is an object", r#""meta_description":{}"#),
        in_article("a meta description that is true", r#""meta_description":true"#),
        field("an image's url that is an array", r#""featured_image":{"url":["a.png"]}"#),
        field("an image's url that is an object", r#""featured_image":{"url":{"href":"a.png"}}"#),
        field("an alternative text that is a number", r#""featured_image":{"alt_text":7}"#),
        field("an alternative text that is an array", r#""featured_image":{"alt_text":[]}"#),
        // Beside the article, its fields are not its own.
        field("a word count that is a text, beside the article", r#""word_count":"44""#),
        in_article("an image within the article", r#""featured_image":"a.png""#),
    ]
}
