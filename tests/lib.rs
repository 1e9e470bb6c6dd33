//! What crosses crates: the conformance suite, the proofs and the benchmarks.
