//! What crosses crates: the conformance suite, the properties and the benchmarks.
#![expect(
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc, // a panic says what is wrong
    reason = "only this package uses them"
)]

pub mod connection;
pub mod log_buffer;
pub mod odd_body;
pub mod properties;
pub mod serve;

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The code of the page on applications compiles. It needs the adapters, which the core cannot depend on.
#[cfg(doctest)]
#[doc = include_str!("../crates/article-webhook/src/guide/application.md")]
pub struct Application;

/// The code of the page on what does not compile: it does not, except for the first example.
#[cfg(doctest)]
#[doc = include_str!("../crates/article-webhook/src/guide/compile.md")]
pub struct Compile;

/// The program of the page on deployment compiles.
#[cfg(doctest)]
#[doc = include_str!("../crates/article-webhook/src/guide/deploy.md")]
pub struct Deploy;

/// The code of the page on several machines compiles.
#[cfg(doctest)]
#[doc = include_str!("../crates/article-webhook/src/guide/machines.md")]
pub struct Machines;

/// The code of the page on tests runs. The core cannot depend on the collector.
#[cfg(doctest)]
#[doc = include_str!("../crates/article-webhook/src/guide/testing.md")]
pub struct Testing;
