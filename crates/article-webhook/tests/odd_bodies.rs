//! Bodies that differ from the service's document: whether a sink and an extractor accept them.
#![cfg(feature = "fixture")]

use article_webhook::{
    ArticleResult, Status,
    fixture::{self, DeliveryRequest},
};

/// The outcome of a body at a sink and at an extractor: `ok`, or the code of the refusal.
fn outcomes(body: &[u8]) -> [&'static str; 2] {
    let post = DeliveryRequest::new(body.to_vec());
    let envelope = || fixture::receiver().open(post.headers()).expect("the headers are right");
    let read = envelope().read(post.bytes().clone());
    let article = envelope().article(post.bytes().clone());
    if let (Ok(delivery), Ok((article, _))) = (&read, &article) {
        assert_eq!(delivery.body(), body, "the bytes stay as they came");
        assert_eq!(delivery.decode().as_ref(), Ok(article));
        assert_eq!(ArticleResult::from_json(body).as_ref(), Ok(article));
    }
    [
        read.map_or_else(|refused| refused.rejection().code(), |_| "ok"),
        article.map_or_else(|refused| refused.rejection().code(), |_| "ok"),
    ]
}

const ARTICLE: &str = r#""article":{"title":"Hello","html":"<p>Hi</p>"}"#;

/// An article with this field, in bytes.
fn with(field: &[u8]) -> Vec<u8> {
    let before = br#"{"job_id":"job_7c1e4a52","status":"complete","#;
    [before, field, b",", ARTICLE.as_bytes(), b"}"].concat()
}

const ACCEPTED: [&str; 2] = ["ok", "ok"];
const MALFORMED: [&str; 2] = ["malformed_json"; 2];
/// Stored by a sink, as it came.
const FAILED: [&str; 2] = ["ok", "unprocessable"];

#[test]
fn what_senders_get_wrong_in_json_is_accepted() {
    let sound = with(b"\"tone\":\"warm\"");
    let marked = [b"\xef\xbb\xbf", &sound[..]].concat();
    for body in [
        sound,
        marked,
        with(b"\"tone\":\"\\ud83c\""),
        with(b"\"tone\":\"a\tb\x00c\""),
        with(b"\"tone\":\"caf\xe9\""),
        with(b"\"credits_used\":NaN"),
        with(b"\"tone\":[Infinity,-Infinity]"),
    ] {
        assert_eq!(outcomes(&body), ACCEPTED, "{}", String::from_utf8_lossy(&body));
    }
}

#[test]
fn no_repair_touches_an_identity_or_a_second_meaning() {
    for body in [
        with(b"\"\\ud83c\":1"),
        with(b"\"\xff\":1,\"\xfe\":1"),
        with(b"\"a\nb\":1"),
        with(b"\"tone\":\"\xff\",\"tone\":\"\xfe\""),
        with(b"\"tone\":1e999"),
        with(b"\"tone\":nan"),
        with(b"\xef\xbb\xbf\"tone\":1"),
        br#"{"job_id":"job_7c1e4a52\ud83c"}"#.to_vec(),
        b"{\"job_id\":\"job_7c1e4a52\x00\"}".to_vec(),
        br#"{"job_id":NaN}"#.to_vec(),
    ] {
        assert_eq!(outcomes(&body), MALFORMED, "{}", String::from_utf8_lossy(&body));
    }
}

#[test]
fn the_event_and_the_content_decide_and_not_the_spelling_of_the_status() {
    let body = |status: &str| format!(r#"{{"job_id":"job_7c1e4a52",{status}{ARTICLE}}}"#);
    for status in ["", r#""status":"completed","#, r#""status":"DONE","#, r#""status":null,"#] {
        assert_eq!(outcomes(body(status).as_bytes()), ACCEPTED, "{status}");
    }
    for failure in [
        r#""status":"failed","#,
        r#""status":"Error","#,
        r#""status":"cancelled","#,
        r#""status":"complete","error":"generation_failed","#,
    ] {
        assert_eq!(outcomes(body(failure).as_bytes()), FAILED, "{failure}");
    }
}

#[test]
fn a_result_is_made_for_a_test_and_is_what_its_body_says() {
    let mut result = ArticleResult::new("job_7c1e4a52".parse().unwrap(), "Hello", "<p>Hi</p>");
    result.status = Status::from("done");
    let body = serde_json::to_vec(&result).unwrap();
    assert_eq!(outcomes(&body), ACCEPTED);
    assert_eq!(ArticleResult::from_json(&body).unwrap(), result);
}
