//! The core against the parser it is built on: the same bodies, read by `serde_json::from_slice`
//! into owned structs, are 1.

#![allow(clippy::print_stdout)] // a program may

mod common {
    pub(crate) mod form;
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
use criterion::{BenchmarkId, Criterion, Throughput};

use common::{
    form::Form,
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
    let form = Form::from_args();
    for text in Text::ALL {
        let mut table = Table::new(
            format!("core: {}", text.name()),
            "open and read, open and article : serde_json::from_slice into owned structs",
            &["body", "read", "article"],
        );
        for (size, bytes) in SIZES {
            let requests = requests(bytes, text);
            let contenders: [&dyn Fn(&Request); 3] = [
                &|request| _ = black_box(from_slice(&request.body)),
                &|request| read(&receiver, request),
                &|request| article(&receiver, request),
            ];
            let ratios = race(&requests, &contenders, form.time());
            let figures = [at_most(ratios[1], 0.9, ""), at_most(ratios[2], 1.15, "")];
            table.row(size, figures);
        }
        println!("{table}");
    }
    if form == Form::Long {
        times(&receiver);
    }
}

/// Criterion's view of the same, with its confidence intervals and its memory of the last run.
fn times(receiver: &Receiver) {
    let mut criterion = Criterion::default();
    for (size, bytes) in SIZES {
        let requests = requests(bytes, Text::ManyScripts);
        let mut group = criterion.benchmark_group(size);
        group.throughput(Throughput::Bytes(bytes as u64));
        let mut bench = |name, contender: &dyn Fn(&Request)| {
            let mut turns = requests.iter().cycle();
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                bencher.iter(|| turns.next().map(|request| contender(black_box(request))));
            });
        };
        bench("from_slice", &|request| {
            black_box(from_slice(&request.body));
        });
        bench("read", &|request| read(receiver, request));
        bench("article", &|request| article(receiver, request));
        group.finish();
    }
    criterion.final_summary();
}

fn read(receiver: &Receiver, request: &Request) {
    let envelope = receiver.open(&request.headers).expect("it is authentic");
    let delivery = envelope.read(request.body.clone());
    black_box(delivery).expect("it is well-formed");
}

fn article(receiver: &Receiver, request: &Request) {
    let envelope = receiver.open(&request.headers).expect("it is authentic");
    let article = envelope.article(request.body.clone());
    black_box(article).expect("it is complete");
}
