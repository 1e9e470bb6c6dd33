//! The rates of the collector against the simulator over loopback, which is a process of its own, and the cost of a claim
//! where a million jobs wait. Each figure is a ratio within this run, or is compared with a limit.
//!
//! ```text
//! cargo bench -p article-webhook-collector --bench collector                 all of it, in minutes
//! cargo bench -p article-webhook-collector --bench collector -- --long       more rounds
//! cargo bench -p article-webhook-collector --bench collector -- fast flat    some of: fast, flat, memory
//! ```

#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints its figures

mod fast;
mod flat;
#[expect(dead_code, reason = "not every benchmark takes turns")]
#[path = "../../../article-webhook-inbox/benches/inbox/form.rs"]
mod form;
mod memory;
#[path = "../../../article-webhook-inbox/benches/inbox/resident.rs"]
mod resident;
#[path = "../../../article-webhook-inbox/benches/inbox/scratch.rs"]
mod scratch;
mod service;
#[path = "../../../article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{env, process::ExitCode};

use form::Form;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [role, jobs, bytes] = arguments.as_slice()
        && role == service::CHILD
    {
        service::serve(jobs.parse().unwrap(), bytes);
        return ExitCode::SUCCESS;
    }
    let form = Form::of(&arguments);
    type Part = (&'static str, fn(Form));
    let parts: [Part; 3] = [("fast", fast::run), ("flat", flat::run), ("memory", memory::run)];
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
