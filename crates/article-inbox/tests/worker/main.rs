//! What a worker does with what an inbox holds.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod attempts;
mod concurrency;
mod faulty;
mod leases;
mod panics_and_loops;
mod retention;
mod runtimes;
mod scene;
mod settings;
mod shutdown;
mod stores;
mod unhandled;
mod waking;
