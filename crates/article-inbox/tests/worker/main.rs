//! What a worker does with the entries of an inbox.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod attempts;
mod blocking;
#[path = "../common/faulty_store.rs"]
mod faulty;
mod leases;
mod panics_and_loops;
mod retention;
mod scene;
mod settings;
mod shutdown;
mod stores;
mod threads;
mod unhandled;
mod waking;
