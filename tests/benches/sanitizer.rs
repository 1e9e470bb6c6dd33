//! The time that the sanitiser takes for 1 MiB of each of the worst kinds of HTML, and how it ends. Then what takes longest of
//! those that end well, and articles, against html5ever, which makes a tree of the same HTML and checks nothing.
#![allow(clippy::print_stdout)] // a program writes to the terminal

mod common {
    pub(crate) mod measured;
    pub(crate) mod median;
    pub(crate) mod race;
}

#[path = "../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use article_webhook::fixture;
use article_webhook_tests::properties::sanitizer::{sanitize, worst_kinds};
use html5ever::{ParseOpts, QualName, local_name, ns, parse_fragment, tendril::TendrilSink as _};
use markup5ever_rcdom::RcDom;

use common::{measured::line_time, race::race};
use table::{Table, at_most};

const MEBIBYTE: usize = 1024 * 1024;

fn main() {
    let mut slowest = (Duration::ZERO, "", String::new());
    for (kind, html) in worst_kinds(MEBIBYTE) {
        let start = Instant::now();
        let (sanitized, operations) = sanitize(&html);
        let time = start.elapsed();
        let end = match &sanitized {
            Ok(sanitized) => format!("{} bytes", sanitized.len()),
            Err(limit) => format!("{limit:?}"),
        };
        println!("{kind:<44} {:>6} ms {operations:>10} operations  {end}", time.as_millis());
        if sanitized.is_ok() && time > slowest.0 {
            slowest = (time, kind, html);
        }
    }
    let articles = |bytes, count| (0..count).map(|seed| article(seed, bytes)).collect();
    let rows: [(&str, Vec<String>); 3] = [
        (slowest.1, vec![slowest.2]),
        ("an article, 1 MiB", articles(MEBIBYTE, 1)),
        ("articles, 16 KiB", articles(16 * 1024, 64)),
    ];
    let mut table = Table::new("sanitizer", "sanitised : a tree by html5ever", &["HTML", "time"]);
    for (name, htmls) in rows {
        let contenders: [&dyn Fn(&String); 2] =
            [&|html| _ = black_box(tree(html)), &|html| _ = black_box(sanitize(html))];
        let ratios = race(&htmls, &contenders, line_time());
        table.row(name, [at_most(ratios[1], 3.0, "")]);
    }
    println!("{table}");
}

/// An article's HTML of about this length.
fn article(seed: u64, bytes: usize) -> String {
    let (_, body) = fixture::generated(seed, bytes).into_request("/").into_parts();
    let body: serde_json::Value = serde_json::from_slice(&body).expect("it is JSON");
    body["article"]["html"].as_str().expect("it has an article").to_owned()
}

fn tree(html: &str) -> RcDom {
    let context = QualName::new(None, ns!(html), local_name!("div"));
    parse_fragment(RcDom::default(), ParseOpts::default(), context, Vec::new(), false).one(html)
}
