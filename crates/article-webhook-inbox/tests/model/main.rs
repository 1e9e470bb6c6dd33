//! Random calls of a [`MemoryStore`](article_webhook_inbox::MemoryStore) and a
//! [`SqliteStore`](article_webhook_inbox::SqliteStore) on one stepped clock. Every answer, and at the end every entry, must be the
//! same. The scripts of both are the same, and the contract holds them: this compares their tables.
//!
//! It runs 400 sequences, or 100,000 with `-- --long`. A difference is shrunk and printed with the seed of its sequence.
//! `-- --seed 42` runs that sequence again.

#![allow(clippy::print_stdout)] // a program may

mod compare;
mod ledger;
mod pair;
mod step;
mod subject;

fn main() {
    compare::run(400, 100_000);
}
