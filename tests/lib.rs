//! What crosses crates: the conformance suite, the properties and the benchmarks.

pub mod properties;

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
