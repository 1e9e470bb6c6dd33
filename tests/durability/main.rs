//! What the inbox promises, held against a receiver in a process of its own that is killed, robbed of its
//! disk's contents, lied to by the kernel, and poisoned.
//!
//! ```text
//! cargo test -p article-webhook-tests --test durability                        every proof, its short form
//! cargo test -p article-webhook-tests --test durability -- power_cut           this one
//! cargo test -p article-webhook-tests --test durability -- power_cut --long    its long form
//! ```
//!
//! | | |
//! |---|---|
//! | `power_cut` | what was acknowledged survives a power cut: a delivery is synced before it is answered |
//! | `kills` | a receiver that is killed loses nothing and does nothing twice |
//! | `orders` | an application that is killed, or whose power is cut, orders nothing twice and loses no order |
//! | `faults` | a write or sync that fails, or a full disk, acknowledges nothing that is not there |
//! | `poison` | a handler that fails, panics, aborts, hangs or hoards is given up, and delays no other |
//! | `neighbours` | one that aborts the process each time is given up alone; a handler that takes long is done beside it |
//!
//! Most of them watch the receiver with strace. Where it is missing, or may not trace, they are skipped and say so;
//! where the variable `CI` is set, that is a failure.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program may

mod acknowledged;
mod aim;
mod child;
mod disk;
mod faults;
mod form;
mod handler;
mod kills;
mod load;
mod orders;
mod poison;
mod power_cut;
mod recording;
mod role;
mod runs;
mod service;
mod store;
mod story;
mod strace;
mod trace;

use std::env;

use form::Form;
use role::Role;

fn main() {
    if let Some(role) = Role::from_arguments() {
        role.serve();
        return;
    }
    let form = Form::from_arguments();
    let obstacle = strace::obstacle();
    if let Some(obstacle) = obstacle {
        assert!(env::var_os("CI").is_none(), "the proofs of durability need strace: {obstacle}");
    }
    let proof = |name: &str, needs_strace: Needs, prove: &dyn Fn()| {
        // What `cargo test` passes on besides is for a harness that this is not.
        let mut names =
            env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
        if names.peek().is_some() && !names.any(|named| named == name) {
            return;
        }
        match (needs_strace, obstacle) {
            (Needs::Strace, Some(obstacle)) => println!("durability: {name}: skipped: {obstacle}"),
            _ => prove(),
        }
    };
    proof("power_cut", Needs::Strace, &|| power_cut::nothing_acknowledged_is_lost(form));
    proof("kills", Needs::Nothing, &|| kills::lose_nothing_and_double_nothing(form, obstacle));
    proof("orders", Needs::Strace, &|| orders::cuts::no_order_is_lost(form));
    proof("faults", Needs::Nothing, &|| faults::a_small_disk_fills_and_empties());
    proof("faults", Needs::Strace, &|| {
        faults::a_disk_that_fails_for_a_while(form);
        faults::a_call_that_fails_acknowledges_nothing_that_is_not_there(form);
    });
    proof("poison", Needs::Nothing, &poison::is_given_up_and_holds_nothing_up);
    proof("neighbours", Needs::Nothing, &|| {
        poison::does_not_take_its_neighbours_along();
        poison::gives_up_none_but_those_that_end_the_process();
    });
}

#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    Strace,
}
