//! The server under load: a crowd of slow and silent senders beside good deliveries, a process without file descriptors.
//!
//! Each server is a child process of this program, so that its memory can be measured.

#![allow(clippy::print_stdout)] // a program writes to its terminal

#[path = "../../../../tests/child.rs"]
mod child;
mod crowd;
mod descriptors;
mod good;
mod role;

use role::Role;

fn main() {
    if let Some(role) = Role::from_args() {
        role.serve();
        return;
    }
    descriptors::raise_the_limit();
    // Arguments of `cargo test` are for its own harness, and are ignored.
    if !is_asked_for("crowd") {
        descriptors::deliveries_go_on_after_the_descriptors_were_used_up();
    }
    crowd::good_deliveries_go_on_and_the_crowd_is_closed();
}

/// Whether this word is among the arguments: `--long` or `crowd`.
fn is_asked_for(word: &str) -> bool {
    std::env::args().any(|argument| argument == word)
}
