//! What must hold for any bytes at all, however hostile.
//!
//! Each property is a function of bytes that panics when it is broken. Three things feed them: the
//! fuzzer in `fuzz/`, the test `corpus`, which replays what the fuzzer has found, and `bodies`,
//! which draws bodies at random.

pub mod bodies;
mod json;
mod lenient;
pub mod mutate;
pub mod repair;
pub mod request;
pub mod sanitizer;
pub mod site;
pub mod token;
pub mod verdict;

/// Panics when the bytes break it.
pub type Property = fn(&[u8]);

/// Every property under the name of its fuzz target and of its folder in the corpus.
pub const ALL: [(&str, Property); 5] = [
    ("verdict", verdict::check),
    ("token", token::check),
    ("bodies", bodies::check),
    ("repair", repair::check),
    ("sanitizer", sanitizer::check),
];
