//! One short program per file; `cargo run --example NAME` runs it.
