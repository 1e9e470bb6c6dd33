//! The sanitiser on HTML that costs the most, and on HTML that a generator draws, of up to 1 MiB.

use std::panic::catch_unwind;

use article_webhook_tests::properties::sanitizer::{check_html, drawn, sanitize, worst_kinds};

#[test]
fn the_worst_kinds_cost_no_more_than_their_length_allows() {
    for bytes in [64 * 1024, 1024 * 1024] {
        for (kind, html) in worst_kinds(bytes) {
            let held = catch_unwind(|| check_html(&html));
            assert!(held.is_ok(), "{kind}, {bytes} bytes");
        }
    }
}

#[test]
fn drawn_html_costs_no_more_and_is_harmless() {
    let mut kept = 0;
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let is_long = seed % 20 == 0;
        let length = if is_long { 64 * 1024..1024 * 1024 } else { 64..8 * 1024 };
        let bytes = random.usize(length);
        let html = drawn(&mut random, bytes);
        assert!(catch_unwind(|| check_html(&html)).is_ok(), "seed {seed}");
        kept += usize::from(sanitize(&html).0.is_ok());
    }
    assert!(kept > 100, "all but {kept} were refused");
}
