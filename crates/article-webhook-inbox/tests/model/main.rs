//! Random calls of a reference and a [`SqliteStore`](article_webhook_inbox::SqliteStore) on one
//! stepped clock. Every answer, and at the end every entry, must be the same.
//!
//! It runs 400 sequences, or 100,000 with `-- --long`. A difference is shrunk and printed with the seed of its sequence.
//! `-- --seed 42` runs that sequence again.

#![allow(clippy::print_stdout)] // a program may

mod answer;
mod compare;
mod ledger;
mod ledger_step;
mod pair;
mod reference;
mod shrink;
mod step;
mod subject;

fn main() {
    compare::run(400, 100_000);
}
