//! The number of articles of 16 KB that one thread generates per second.
#![allow(clippy::print_stdout)] // a benchmark prints figures

use std::{hint::black_box, time::Instant};

use article_webhook_simulator::articles::{ArticleSpec, Length, generate};

const ARTICLES: u32 = 200_000;

fn main() {
    let order = ArticleSpec {
        image_base: "http://127.0.0.1:4000/images",
        credits_used: 3,
        length: Length::Bytes(16_384),
        ..ArticleSpec::new("job_7c1e4a52", "How to choose running shoes")
    };
    let start = Instant::now();
    let bytes: usize =
        (0..ARTICLES).map(|seed| black_box(generate(seed.into(), &order)).len()).sum();
    let seconds = start.elapsed().as_secs_f64();
    let each = bytes / usize::try_from(ARTICLES).unwrap_or(1);
    println!("{:.0} articles of {each} bytes a second", f64::from(ARTICLES) / seconds);
}
