//! The core against the parser it is built on, in instructions: the same on a busy machine.
//!
//! Each figure is for all bodies of about 16 KB together, the wrong token once. `tests/bench`
//! makes ratios of them.

#![allow(missing_docs)] // of what gungraun generates

mod common {
    pub(crate) mod owned;
    pub(crate) mod request;
    pub(crate) mod sample;
}

use std::hint::black_box;

use article_webhook::{
    Receiver,
    fixture::{self, Defect},
};
use gungraun::prelude::*;
use http::HeaderMap;

use common::{
    owned,
    request::{Request, requests},
    sample::Text,
};

fn setup(text: Text) -> (Receiver, Vec<Request>) {
    (fixture::receiver(), requests(16 << 10, text))
}

fn setup_refusal() -> (Receiver, HeaderMap) {
    let post = fixture::generated(1, 16 << 10).defect(Defect::WrongToken);
    (fixture::receiver(), Request::from(post).headers)
}

#[library_benchmark(setup = setup)]
#[bench::many_scripts(Text::ManyScripts)]
#[bench::english(Text::English)]
#[bench::escaped_markup(Text::EscapedMarkup)]
#[bench::escaped_unicode(Text::EscapedUnicode)]
fn from_slice((_, requests): (Receiver, Vec<Request>)) -> Vec<Request> {
    for request in &requests {
        black_box(owned::from_slice(black_box(&request.body)));
    }
    requests
}

#[library_benchmark(setup = setup)]
#[bench::many_scripts(Text::ManyScripts)]
#[bench::english(Text::English)]
#[bench::escaped_markup(Text::EscapedMarkup)]
#[bench::escaped_unicode(Text::EscapedUnicode)]
fn read((receiver, requests): (Receiver, Vec<Request>)) -> Vec<Request> {
    for request in black_box(&requests) {
        let envelope = receiver.open(&request.headers).expect("it is authentic");
        _ = black_box(envelope.read(request.body.clone()));
    }
    requests
}

#[library_benchmark(setup = setup)]
#[bench::many_scripts(Text::ManyScripts)]
#[bench::english(Text::English)]
#[bench::escaped_markup(Text::EscapedMarkup)]
#[bench::escaped_unicode(Text::EscapedUnicode)]
fn article((receiver, requests): (Receiver, Vec<Request>)) -> Vec<Request> {
    for request in black_box(&requests) {
        let envelope = receiver.open(&request.headers).expect("it is authentic");
        _ = black_box(envelope.article(request.body.clone()));
    }
    requests
}

#[library_benchmark]
#[bench::wrong_token(setup_refusal())]
fn refusal((receiver, headers): (Receiver, HeaderMap)) -> (Receiver, HeaderMap) {
    _ = black_box(receiver.open(black_box(&headers)));
    (receiver, headers)
}

library_benchmark_group!(name = core, benchmarks = [from_slice, read, article, refusal]);

main!(library_benchmark_groups = core);
