//! The core against the parser it is built on: the same bodies, read by `serde_json::from_slice`
//! into owned structs, are 1.

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

use std::hint::black_box;

use article_webhook::{Receiver, fixture};

use common::{
    measured::line_time,
    owned::from_slice,
    race::race,
    request::{Request, requests},
    sample::Text,
};
use table::{Table, at_most};

const SIZES: [(&str, usize); 4] =
    [("4 KiB", 4 << 10), ("16 KiB", 16 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20)];

fn main() {
    let receiver = fixture::receiver();
    for text in Text::ALL {
        let mut table = Table::new(
            format!("core: {}", text.name()),
            "open and article : serde_json::from_slice into owned structs",
            &["body", "article"],
        );
        for (size, bytes) in SIZES {
            let requests = requests(bytes, text);
            let parse = |request: &Request| _ = black_box(from_slice(&request.body));
            let article = |request: &Request| article(&receiver, request);
            let ratios = race(&requests, &[&parse, &article], line_time());
            table.row(size, [at_most(ratios[1], 1.15, "")]);
        }
        println!("{table}");
    }
}

fn article(receiver: &Receiver, request: &Request) {
    let envelope = receiver.open(&request.headers).expect("it is authentic");
    let article = envelope.article(request.body.clone());
    black_box(article).expect("it is complete");
}
