//! The time that the sanitiser takes for 1 MiB of each of the worst kinds of HTML, and how it ends.
#![allow(clippy::print_stdout)] // a program writes to the terminal

use std::time::Instant;

use article_webhook_tests::properties::sanitizer::{Subject, worst_kinds};

fn main() {
    for (kind, html) in worst_kinds(1024 * 1024) {
        let start = Instant::now();
        let (sanitized, operations) = (Subject::CORE.sanitize)(&html);
        let time = start.elapsed().as_millis();
        let end = match sanitized {
            Ok(sanitized) => format!("{} bytes", sanitized.len()),
            Err(limit) => format!("{limit:?}"),
        };
        println!("{kind:<44} {time:>6} ms {operations:>10} operations  {end}");
    }
}
