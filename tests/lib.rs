//! What crosses crates: the conformance suite, the proofs and the benchmarks.

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
