//! What a worker does with the entries of an inbox.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod attempts;
mod blocking;
#[cfg(feature = "tracing")]
mod causes;
mod failures;
mod gate;
mod idle;
mod leases;
mod panics_and_loops;
mod retention;
mod scene;
mod shutdown;
mod stores;
mod stuck;
mod threads;
mod turns;
mod unhandled;
mod waking;
