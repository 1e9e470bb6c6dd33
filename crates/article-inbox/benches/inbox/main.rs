//! What the inbox can do, next to what an application would write in its place, on the disk that holds the target
//! folder: each figure is a ratio within this run, or held against a limit.
//!
//! ```text
//! cargo bench -p article-inbox --bench inbox                      all of it, in minutes
//! cargo bench -p article-inbox --bench inbox -- --long            more rounds, ten million tombstones, a million deliveries
//! cargo bench -p article-inbox --bench inbox -- store receiver    some of: store, slow, receiver, work, tombstones, memory
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // the figures are what it is for

mod bodies;
mod form;
mod load;
mod log;
mod memory;
mod naive;
mod receiver;
mod scratch;
mod sender;
mod server;
mod slow;
mod store;
mod table;
mod tombstones;
mod work;

use std::env;

use form::Form;

fn main() {
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(role) = server::Role::of(&arguments) {
        return role.serve();
    }
    if arguments.iter().any(|argument| argument == slow::CHILD) {
        return slow::child();
    }
    let form = Form::of(&arguments);
    type Part = (&'static str, fn(Form));
    let parts: [Part; 6] = [
        ("store", store::run),
        ("slow", slow::run),
        ("receiver", receiver::run),
        ("work", work::run),
        ("tombstones", tombstones::run),
        ("memory", memory::run),
    ];
    let is_asked = |name: &str| arguments.iter().any(|argument| argument == name);
    let are_all = !parts.iter().any(|(name, _)| is_asked(name));
    for (name, run) in parts {
        if are_all || is_asked(name) {
            run(form);
        }
    }
}

/// A runtime as `#[tokio::main]` makes it.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}
