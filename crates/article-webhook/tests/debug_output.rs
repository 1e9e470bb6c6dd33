//! `Debug` of every type shows identity and sizes, and neither a token nor content.
#![cfg(feature = "fixture")]

use article_webhook::{AuthToken, Receiver, Rejection, fixture};

/// Identity and sizes, never content.
const EXPECTED: [&str; 11] = [
    r#"AuthToken(redacted)"#,
    r#"Receiver { targets: ["default"], body_limit: 8388608, .. }"#,
    r#"ReceiverBuilder { targets: Targets(["default"]), .. }"#,
    r#"Envelope { target: "default", event: Some(ArticleComplete), job_id: Some(JobId("job_7c1e4a52")), .. }"#,
    r#"Intake { envelope: Envelope { target: "default", event: Some(ArticleComplete), job_id: Some(JobId("job_7c1e4a52")), .. }, body: 310 bytes }"#,
    r#"Delivery { job_id: JobId("job_7c1e4a52"), event: ArticleComplete, target: "default", intent: None, body: 310 bytes }"#,
    r#"Article { title: 17 bytes, html: UntrustedHtml(17 bytes), meta_title: Some(17 bytes), meta_description: None, eeat_score: None, word_count: None }"#,
    r#"Some(FeaturedImage { url: Some(17 bytes), alt_text: Some(17 bytes) })"#,
    r#"SocialPosts { linkedin: [], x: [SocialPost(..), SocialPost(..)] }"#,
    r#"article: expected an object, found an array article: expected an object, found an array"#,
    r#"the body is no article result: article: expected an object, found an array the body is no article result: article: expected an object, found an array Answer { code: Unprocessable, closes: false }"#,
];

#[test]
fn no_type_shows_a_token_or_a_body() {
    let canary = "canary-3f9d51c07b";
    let token = AuthToken::new(&format!("Bearer {canary}")).unwrap();
    let receiver = Receiver::new(token.clone());
    let article = serde_json::json!({"title": canary, "html": canary, "meta_title": canary});
    let request = fixture::complete().token(&format!("Bearer {canary}")).field("article", article);
    let posts = serde_json::json!({"x": [canary, {"text": canary}]});
    let image = serde_json::json!({"url": canary, "alt_text": canary});
    let request = request.field("social_posts", posts).field("featured_image", image);

    let open = || receiver.open(request.headers()).unwrap();
    let mut intake = open().intake();
    intake.push(request.bytes().slice(..100)).unwrap();
    intake.push(request.bytes().slice(100..)).unwrap();
    let delivery = open().read(request.bytes().clone()).unwrap();
    let (result, _) = open().article(request.bytes().clone()).unwrap();
    let wrong = request.clone().field("article", [canary; 9]);
    let refused = open().article(wrong.bytes().clone()).unwrap_err();
    let Rejection::Undecodable(undecodable) = refused.rejection() else { panic!("{refused}") };

    let shown = [
        format!("{token:?}"),
        format!("{receiver:?}"),
        format!("{:?}", Receiver::builder(token)),
        format!("{:?}", open()),
        format!("{intake:?}"),
        format!("{delivery:?}"),
        format!("{:?}", result.article),
        format!("{:?}", result.featured_image),
        format!("{:?}", result.social_posts),
        format!("{undecodable} {undecodable:?}"),
        format!("{refused} {refused:?} {:?}", refused.answer()),
    ];
    assert_eq!(shown, EXPECTED);
    assert!(
        format!("{result:?}").starts_with(r#"ArticleResult { job_id: JobId("job_7c1e4a52"), "#)
    );
    assert!(!format!("{shown:?} {result:?}").contains("canary"));
}
