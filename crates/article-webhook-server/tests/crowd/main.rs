//! What the server stands: a crowd of slow and silent senders around good deliveries, a process
//! without file descriptors, and what it costs beside `axum::serve`.
//!
//! Each server is this program once more, as a child process, so that its memory is its own.

#![allow(clippy::print_stdout)] // a program may

mod child;
mod crowd;
mod descriptors;
mod good;
mod peer;
mod role;
mod throughput;

use role::Role;

fn main() {
    if let Some(role) = Role::from_args() {
        role.serve();
        return;
    }
    descriptors::are_enough_for_a_crowd();
    // What `cargo test` passes on is for a harness that this is not.
    descriptors::are_used_up_and_deliveries_go_on();
    crowd::costs_little_while_it_is_silent();
    crowd::planted_axum_serve_keeps_it();
    crowd::is_held_off();
    throughput::is_near_that_of_axum_serve();
}
