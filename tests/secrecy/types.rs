//! Every public type that can hold a secret or a body, and every error about one, as text.

use std::{
    env, fmt, fs,
    pin::pin,
    task::{Context, Poll, Waker},
};

use article_webhook::{
    ArticleResult, AuthToken, Capability, CapabilityKey, Receiver, Targets,
    fixture::DeliveryRequest,
};
use serde_json::json;

use crate::{canary::Canaries, situation};

/// The job of the samples.
pub(crate) const JOB: &str = "job_types";

/// Identity and sizes, and no content.
pub(crate) const IDENTITY_AND_SIZES: [&str; 5] = [
    r#"Intake { envelope: Envelope { target: "default", event: Some(ArticleComplete), job_id: Some(JobId("job_types")), .. }, body: 655 bytes }"#,
    r#"Delivery { job_id: JobId("job_types"), event: ArticleComplete, target: "default", intent: None, body: 655 bytes }"#,
    "Article { title: 32 bytes, html: UntrustedHtml(32 bytes), meta_title: Some(32 bytes), meta_description: Some(32 bytes), eeat_score: Some(1.0), word_count: None }",
    "Some(FeaturedImage { url: Some(32 bytes), alt_text: Some(32 bytes) })",
    "SocialPosts { linkedin: [SocialPost(..), SocialPost(..)], x: [SocialPost(..)] }",
];

/// The samples, in `Debug` on one line and on many.
pub(crate) fn shown(canaries: &Canaries) -> Vec<String> {
    let post = situation::delivery(canaries, JOB);
    let token = AuthToken::new(&situation::bearer(&canaries.token)).expect("it is a legal token");
    let receiver = Receiver::new(token.clone());
    let of = |post: &DeliveryRequest| receiver.open(post.headers()).expect("it is a delivery");
    let open = || of(&post);
    let key = CapabilityKey::new(canaries.key.as_bytes()).expect("the key is long enough");
    let capability: Capability =
        key.mint("order-17", std::time::SystemTime::now()).expect("it is a legal intent");

    let mut intake = open().intake();
    intake.push(post.bytes().slice(..100)).expect("it is short");
    intake.push(post.bytes().slice(100..)).expect("it is short");
    let delivery = open().read(post.bytes().clone()).expect("it is a delivery");
    // A list is no LinkedIn post's text, and a new field no drift of the documented ones.
    let result: ArticleResult = delivery.decode().expect("it is an article");
    let wrong = post.clone().field("article", json!([canaries.content]));
    let undecodable = ArticleResult::from_json(wrong.bytes()).expect_err("an article is an object");
    let refused = of(&wrong).article(wrong.bytes().clone()).expect_err("an article is an object");
    let of_another_job = post.clone().field("job_id", "job_other");
    let kept = of(&of_another_job).read(of_another_job.bytes().clone());
    let kept = kept.expect_err("the job ids of header and body differ");

    let tower = article_webhook_tower::receive(receiver.clone(), crate::site::Site::Stores);
    let capable = article_webhook_tower::receive_capability(
        receiver.clone(),
        key.clone(),
        crate::site::Site::Stores,
    );
    let mut all = vec![
        debug(&token),
        debug(&Targets::new("blog", token.clone())),
        debug(&Receiver::builder(token)),
        debug(&receiver),
        debug(&key),
        debug(&capability),
        debug(&open()),
        debug(&intake),
        debug(&delivery),
        debug(&result),
        debug(&result.article),
        debug(&result.article.html),
        debug(&result.featured_image),
        debug(&result.social_posts),
        debug(&delivery.drift()),
        debug(&undecodable),
        undecodable.to_string(),
        debug(&refused),
        refused.to_string(),
        debug(&refused.answer()),
        debug(&kept.body().expect("it is of a job")),
        debug(&article_webhook_axum::ArticleComplete(result.clone(), delivery.clone())),
        debug(&article_webhook_axum::RawDelivery(delivery.clone())),
        refused_by_axum(&wrong, &receiver),
        debug(&article_webhook_actix_web::ArticleComplete(result, delivery.clone())),
        debug(&article_webhook_actix_web::RawDelivery(delivery)),
        refused_by_actix_web(&wrong, &receiver),
        debug(&tower),
        debug(&capable),
        debug(&article_webhook_tower::RequireDeliveryLayer::new(receiver)),
    ];
    all.extend(errors(canaries));
    all
}

fn refused_by_axum(wrong: &DeliveryRequest, receiver: &Receiver) -> String {
    use article_webhook_axum::{ArticleComplete, fixture::DeliveryRequestExt};
    use axum::extract::FromRequest;

    refusal(ArticleComplete::from_request(wrong.request("/"), receiver))
}

fn refused_by_actix_web(wrong: &DeliveryRequest, receiver: &Receiver) -> String {
    use actix_web::FromRequest;
    use article_webhook_actix_web::{ArticleComplete, fixture::DeliveryRequestExt};

    let request = wrong.request("/").app_data(receiver.clone());
    let (head, mut payload) = request.to_http_parts();
    refusal(ArticleComplete::from_request(&head, &mut payload))
}

/// The refusal of an extractor whose body is there.
fn refusal<T, E: fmt::Debug + fmt::Display>(
    extracted: impl Future<Output = Result<T, E>>,
) -> String {
    match pin!(extracted).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Err(refused)) => format!("{refused} {}", debug(&refused)),
        _ => panic!("an article is an object"),
    }
}

fn debug(value: &dyn fmt::Debug) -> String {
    format!("{value:?} {value:#?}")
}

/// Tokens, keys and intents that cannot be right are not shown by the errors that say so.
fn errors(canaries: &Canaries) -> Vec<String> {
    let token = &canaries.token;
    let mut texts: Vec<_> = [
        format!("Bearer Bearer {token}"),
        format!(" {token}"),
        format!("{token}\n"),
        format!("Bearer {token}\té"),
        format!("{token}\0"),
        token.repeat(200),
    ]
    .iter()
    .map(|token| AuthToken::new(token).expect_err("it cannot be right"))
    .map(|error| format!("{error} {error:?}"))
    .collect();

    let path = env::temp_dir().join(format!("article-webhook-secrecy-{}", std::process::id()));
    for content in [format!("{token}\n\n").into_bytes(), [token.as_bytes(), b"\xff"].concat()] {
        fs::write(&path, content).expect("there is a place for temporary files");
        let error = AuthToken::from_file(&path).expect_err("it cannot be right");
        texts.push(format!("{error} {error:?}"));
    }
    fs::remove_file(&path).expect("it was written before");

    let key = CapabilityKey::new(&canaries.key.as_bytes()[..31]).expect_err("it is short");
    texts.push(format!("{key} {key:?}"));
    texts
}
