//! Receiving an article against what a service with signed webhooks makes its receivers do.
//!
//! The peers authenticate the body with an HMAC over all of it, which costs more than parsing it.
//! The article service offers a token and no signature, so this is no better engineering than
//! theirs: it shows what a receiver of this service must not cost.

#![allow(clippy::print_stdout)] // a program may

mod common {
    pub(crate) mod measured;
    pub(crate) mod median;
    pub(crate) mod owned;
    pub(crate) mod race;
    pub(crate) mod request;
    pub(crate) mod sample;
}

#[path = "../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{hint::black_box, time::SystemTime};

use article_webhook::fixture;
use http::HeaderMap;

use common::{
    measured::line_time,
    owned::from_slice,
    race::race,
    request::{Request, requests},
    sample::Text,
};
use table::{Table, at_least};

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

/// A delivery, with the headers that each of the peers looks at.
struct Signed {
    request: Request,
    headers: HeaderMap,
}

fn main() {
    let mut table = Table::new(
        "peers",
        "verify and from_slice by a peer : open and article, 16 KiB",
        &["body", "svix", "standardwebhooks"],
    );
    for text in [Text::ManyScripts, Text::English] {
        let ratios = against_peers(text);
        let figures = [ratios[1], ratios[2]].map(|ratio| at_least(ratio, 6.0, ""));
        table.row(text.name(), figures);
    }
    println!("{table}");
    println!("  They authenticate the whole body by an HMAC; this service offers only a token.\n");
}

fn against_peers(text: Text) -> Vec<f64> {
    let receiver = fixture::receiver();
    let svix = svix::webhooks::Webhook::from_bytes(SECRET.into()).expect("it is a key");
    let standard = standardwebhooks::Webhook::from_bytes(SECRET.into()).expect("it is a key");
    let requests: Vec<_> =
        requests(16 << 10, text).into_iter().map(|request| sign(&standard, request)).collect();
    let contenders: [&dyn Fn(&Signed); 3] = [
        &|Signed { request, .. }| {
            let envelope = receiver.open(&request.headers).expect("it is authentic");
            black_box(envelope.article(request.body.clone())).expect("it is complete");
        },
        &|Signed { request, headers }| {
            let verified = svix.verify(&request.body, headers);
            verified.expect("it is signed");
            black_box(from_slice(&request.body));
        },
        &|Signed { request, headers }| {
            let verified = standard.verify(&request.body, headers);
            verified.expect("it is signed");
            black_box(from_slice(&request.body));
        },
    ];
    race(&requests, &contenders, 2 * line_time())
}

fn sign(webhook: &standardwebhooks::Webhook, request: Request) -> Signed {
    let now = SystemTime::UNIX_EPOCH.elapsed().expect("it is past 1970");
    let now = i64::try_from(now.as_secs()).expect("it is long before the end of time");
    let signature = webhook.sign("msg_1", now, &request.body).expect("it is text");
    let headers = [
        ("webhook-id", "msg_1".to_owned()),
        ("webhook-timestamp", now.to_string()),
        ("webhook-signature", signature),
    ];
    let header = |(name, value): (&'static str, String)| {
        let value = value.try_into().expect("it is a header");
        (http::HeaderName::from_static(name), value)
    };
    let headers = headers.map(header).into_iter().collect();
    Signed { request, headers }
}
