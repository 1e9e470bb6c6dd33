//! A collector over the memory store and an API without sockets, on a stepped clock: orders, asks, and what becomes of both
//! when the store, the API or the caller fails.

mod api;
mod faulty_ledger;
mod world;

mod asks;
mod backfill;
mod bucket;
mod ends;
mod orders;
mod shutdown;
mod unknown_orders;
