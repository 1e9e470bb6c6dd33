//! The core against the parser it is built on: the same bodies, read by `serde_json::from_slice`
//! into owned structs, are 1.

#![allow(clippy::print_stdout)] // a program may

mod common {
    pub(crate) mod measured;
    pub(crate) mod median;
}

#[path = "../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{hint::black_box, time::Instant};

use article_webhook::{Receiver, fixture};
use bytes::Bytes;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::Value;

use common::{measured::line_time, median::median};
use table::{Table, at_most};

const SIZES: [(&str, usize); 4] =
    [("4 KiB", 4 << 10), ("16 KiB", 16 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20)];

/// How many distinct bodies take turns. A single one, repeated, would train the branch predictor
/// until it knows the article by heart, and flatter everyone.
const BODIES: u64 = 64;

fn main() {
    let receiver = fixture::receiver();
    for (name, text) in TEXTS {
        let mut table = Table::new(
            format!("core: {name}"),
            "open and article : serde_json::from_slice into owned structs",
            &["body", "article"],
        );
        for (size, bytes) in SIZES {
            let requests: Vec<_> = (0..BODIES).map(|seed| request(seed, bytes, text)).collect();
            let parse = |request: &Request| {
                let read = serde_json::from_slice::<OwnedResult>(&request.body);
                black_box(read).expect("a fixture is well-formed");
            };
            let article = |request: &Request| article(&receiver, request);
            table.row(size, [at_most(race(&requests, [&parse, &article]), 1.15, "")]);
        }
        println!("{table}");
    }
}

fn article(receiver: &Receiver, request: &Request) {
    let envelope = receiver.open(&request.headers).expect("it is authentic");
    let article = envelope.article(request.body.clone());
    black_box(article).expect("it is complete");
}

/// The head of a request, as far as a receiver looks at it, and its body.
struct Request {
    headers: HeaderMap,
    body: Bytes,
}

fn request(seed: u64, bytes: usize, escape: Escape) -> Request {
    let post = fixture::generated(seed, bytes);
    let mut body = String::with_capacity(post.bytes().len());
    // The characters concerned stand only inside strings, so the body may be rewritten as it is.
    for c in str::from_utf8(post.bytes()).expect("a fixture is text").chars() {
        escape(c, &mut body);
    }
    let (head, body) = post.body(body).into_request("/").into_parts();
    Request { headers: head.headers, body }
}

/// How the sender's JSON library writes a character.
type Escape = fn(char, &mut String);

/// What an article is written in, and how the sender writes that.
const TEXTS: [(&str, Escape); 4] = [
    // One word in sixteen is not ASCII; nothing is escaped that need not be.
    ("many scripts", |c, text| text.push(c)),
    // All ASCII. The parsers' checks of UTF-8, in which they differ most, have next to nothing to do.
    ("English", |c, text| text.push(if c.is_ascii() { c } else { 'e' })),
    // Escaped as for use inside a script element.
    ("< > & escaped", |c, text| match c {
        '<' | '>' | '&' => escape(c, text),
        _ => text.push(c),
    }),
    // In surrogate pairs where it takes two.
    ("non-ASCII escaped", |c, text| if c.is_ascii() { text.push(c) } else { escape(c, text) }),
];

fn escape(c: char, text: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

type Contender<'a> = &'a dyn Fn(&Request);

/// Runs the two in turn, one lap over all requests at a time, until the time is up, and returns how long the second takes relative to
/// the first. Laps that follow one another share whatever else the machine is doing, so each is compared with that of the same round.
fn race(requests: &[Request], contenders: [Contender<'_>; 2]) -> f64 {
    let mut ratios = Vec::new();
    let start = Instant::now();
    while ratios.len() < 7 || start.elapsed() < line_time() {
        let [first, second] = contenders.map(|contender| {
            let lap = Instant::now();
            for request in requests {
                contender(black_box(request));
            }
            lap.elapsed().as_secs_f64()
        });
        ratios.push(second / first);
    }
    median(ratios)
}

/// The service's result as owned, derived structs, which check nothing but their types: what an application would write that trusts
/// its sender.
#[derive(Deserialize)]
#[expect(dead_code, reason = "the fields are there to be filled")]
struct OwnedResult {
    job_id: String,
    status: String,
    article: OwnedArticle,
    featured_image: Option<OwnedImage>,
    social_posts: Option<OwnedPosts>,
    credits_used: Option<u64>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "as above")]
struct OwnedArticle {
    title: String,
    html: String,
    meta_title: Option<String>,
    meta_description: Option<String>,
    eeat_score: Option<f64>,
    word_count: Option<u64>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "as above")]
struct OwnedImage {
    url: Option<String>,
    alt_text: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "as above")]
struct OwnedPosts {
    linkedin: Vec<Value>,
    x: Vec<Value>,
}
