//! The rates of the inbox on the disk of the target folder, compared with what an application would write instead. Each
//! figure is a ratio within this run, or is compared with a limit.
//!
//! ```text
//! cargo bench -p article-webhook-inbox --bench inbox                      all of it, in minutes
//! cargo bench -p article-webhook-inbox --bench inbox -- --long            more rounds, ten million tombstones, a million deliveries
//! cargo bench -p article-webhook-inbox --bench inbox -- store work        some of: store, work, many, tombstones, memory, start
//! ```

#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints its figures

mod bodies;
mod claims;
mod contenders;
mod form;
mod lines;
mod load;
mod many;
mod memory;
mod resident;
mod scratch;
mod start;
mod store;
mod table;
mod tombstones;
mod work;

use std::{env, process::ExitCode};

use form::Form;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [role, path] = &arguments[..]
        && role == start::CHILD
    {
        start::child(path);
        return ExitCode::SUCCESS;
    }
    let form = Form::of(&arguments);
    type Part = (&'static str, fn(Form));
    let parts: [Part; 6] = [
        ("store", store::run),
        ("work", work::run),
        ("many", many::run),
        ("tombstones", tombstones::run),
        ("memory", memory::run),
        ("start", start::run),
    ];
    let is_asked = |name: &str| arguments.iter().any(|argument| argument == name);
    let are_all = !parts.iter().any(|(name, _)| is_asked(name));
    for (name, run) in parts {
        if are_all || is_asked(name) {
            run(form);
        }
    }
    form.ending()
}

/// A runtime as `#[tokio::main]` makes it.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}
