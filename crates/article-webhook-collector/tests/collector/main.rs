//! A collector over the memory store and an API without sockets, on a stepped clock: orders, polls, and what becomes of both
//! when the store, the API or the caller fails.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod api;
mod world;

mod backfill;
mod bucket;
mod ends;
mod orders;
mod polls;
mod shutdown;
mod unknown_orders;
