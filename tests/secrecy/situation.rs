use article_webhook::fixture::{self, Defect, DeliveryRequest};
use serde_json::{Value, json};

use crate::canary::Canaries;

/// What is sent, to whatever site.
#[derive(Clone)]
pub(crate) struct Situation {
    pub(crate) method: &'static str,
    pub(crate) post: DeliveryRequest,
    /// The sender hangs up before this much of the body was sent.
    pub(crate) missing: usize,
}

impl From<DeliveryRequest> for Situation {
    fn from(post: DeliveryRequest) -> Self {
        Self { method: "POST", post, missing: 0 }
    }
}

/// A delivery full of canaries, about the job that the log may name.
pub(crate) fn delivery(canaries: &Canaries, job_id: &str) -> DeliveryRequest {
    let canary = || Value::from(canaries.content.as_str());
    fixture::complete()
        .job_id(job_id)
        .token(&bearer(&canaries.token))
        .field(
            "article",
            json!({"title": canary(), "html": canary(), "meta_title": canary(),
                   "meta_description": canary(), "eeat_score": 1, "new": canary()}),
        )
        .field("featured_image", json!({"url": canary(), "alt_text": canary(), "new": canary()}))
        .field(
            "social_posts",
            json!({"linkedin": [canary(), [canary()]], "x": [{"text": canary()}]}),
        )
        .field("note", canary())
}

pub(crate) fn bearer(token: &str) -> String {
    ["Bearer ", token].concat()
}

pub(crate) fn situations(canaries: &Canaries, job_id: &str) -> Vec<Situation> {
    let post = delivery(canaries, job_id);
    let posts = [
        vec![post.clone()],
        Defect::ALL.iter().map(|&spoil| post.clone().defect(spoil)).collect(),
        strangers(&post, canaries),
        headers(&post, canaries),
        bodies(&post, canaries),
    ];
    let mut all: Vec<_> = posts.into_iter().flatten().map(Situation::from).collect();
    let situation = Situation::from(post);
    all.extend(["GET", "PUT", "DELETE"].map(|method| Situation { method, ..situation.clone() }));
    all.push(Situation { missing: 9, ..situation });
    all
}

fn strangers(post: &DeliveryRequest, canaries: &Canaries) -> Vec<DeliveryRequest> {
    let (token, guess) = (&canaries.token, &canaries.guess);
    let near = &token[..token.len() - 1];
    let presenting = [
        guess.clone(),
        bearer(guess),
        bearer(near),
        ["Basic ", token].concat(),
        ["bearer ", token].concat(),
        [&bearer(token), ", ", &bearer(guess)].concat(),
        bearer(&token.repeat(200)),
    ];
    let mut all: Vec<_> = presenting.iter().map(|token| post.clone().token(token)).collect();
    let twice = post.clone().and_header("Authorization", bearer(guess));
    let elsewhere = post.clone().without_header("Authorization");
    all.extend([twice, elsewhere.and_header("Proxy-Authorization", bearer(token))]);
    all
}

/// A secret may have come into any header, by a mistake of the sender's. The log shows the `Content-Type` and the
/// `Content-Encoding` that an authentic delivery is refused for, so these hold none.
fn headers(post: &DeliveryRequest, canaries: &Canaries) -> Vec<DeliveryRequest> {
    let guess = &canaries.guess;
    let invalid = [guess, " and a space"].concat();
    let set = |name, value: &str| post.clone().header(name, value);
    vec![
        set("Content-Type", "application/json; charset=latin1").and_header("X-Other", guess),
        set("Content-Encoding", "br").and_header("X-Other", guess),
        set("X-Service-Event", &invalid),
        set("X-Service-Event", "article.updated"),
        set("X-Service-Job-Id", &invalid),
        post.clone().and_header("X-Service-Event", guess),
        post.clone().and_header("X-Service-Job-Id", guess),
        post.clone().and_header("X-Other", guess),
        post.clone().without_header("X-Service-Event"),
        post.clone().without_header("X-Service-Job-Id"),
        post.clone().without_header("X-Service-Event").field("article", Value::Null),
        post.clone().and_header("Content-Length", guess),
        set("Content-Length", "9000000"),
        set("Expect", guess),
    ]
}

fn bodies(post: &DeliveryRequest, canaries: &Canaries) -> Vec<DeliveryRequest> {
    let content = &canaries.content;
    let texts = [
        content.clone(),
        format!("\"{content}\""),
        format!("[\"{content}\"]"),
        // The names of members are shown, to say where a body is wrong.
        format!("{{\"name\": \"{content}\", \"name\": \"{content}\"}}"),
        format!("{{\"note\": \"{content}"),
        format!("{{\"note\": \"{content}\\q\"}}"),
        format!("{{\"note\": \"{content}\u{1}\"}}"),
        format!("{{\"name\": [\"{content}\", 1e999]}}"),
        format!("{{\"note\": {content}}}"),
        format!("{{}} {content}"),
    ];
    let mut all: Vec<_> = texts.into_iter().map(|text| post.clone().body(text)).collect();
    let canary = || Value::from(content.as_str());
    all.extend([
        post.clone().field("job_id", [content, " and a space"].concat()),
        post.clone().field("status", canary()),
        post.clone().field("article", canary()),
        post.clone().field("article", json!({"title": canary()})),
        post.clone().field("article", json!({"title": canary(), "html": [canary()]})),
        post.clone().field("featured_image", canary()),
        post.clone().field("featured_image", json!({"url": {"new": canary()}})),
        post.clone().field("social_posts", json!({"x": canary()})),
        post.clone().field("credits_used", canary()),
    ]);
    all
}
