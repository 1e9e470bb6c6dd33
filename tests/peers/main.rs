//! What the inbox stores and drains in a second, beside Effectum in the same run, on the disk of the target folder.
//!
//! Effectum is a queue on SQLite that commits in groups, as the inbox does. It knows no job twice: a job is stored under an id
//! that is made for it.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a benchmark prints its figures

#[path = "../../crates/article-webhook-inbox/benches/inbox/bodies.rs"]
mod bodies;
#[path = "../../crates/article-webhook-inbox/benches/inbox/claims.rs"]
mod claims;
mod contenders;
#[path = "../../crates/article-webhook-inbox/benches/inbox/form.rs"]
mod form;
#[path = "../../crates/article-webhook-inbox/benches/inbox/load.rs"]
mod load;
mod queue;
#[path = "../../crates/article-webhook-inbox/benches/inbox/scratch.rs"]
mod scratch;
mod syncs;
#[expect(dead_code, reason = "no figure has an upper limit here")]
#[path = "../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{env, process::ExitCode};

use contenders::Contender;
use form::{Form, median};
use load::Race;
use table::{Table, at_least, plain};
use tokio::runtime::Runtime;

const AT_ONCE: [u16; 3] = [1, 16, 64];
const GOAL: f64 = 1.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if arguments.iter().any(|argument| argument == syncs::CHILD) {
        syncs::child();
        return ExitCode::SUCCESS;
    }
    let form = Form::of(&arguments);
    let runtime = runtime();
    let _entered = runtime.enter(); // in which Effectum closes a queue that is dropped
    syncs::check();
    store(form, &runtime);
    drain(form, &runtime);
    table::ending(form)
}

fn store(form: Form, runtime: &Runtime) {
    let mut table = Table::new(
        "jobs of 16 KB a second, on disk before their senders go on : Effectum, with WAL and FULL",
        &["senders at once", "inbox", "Effectum", "inbox : it", "p99", "its"],
    );
    for senders in AT_ONCE {
        let folder = scratch::folder();
        let contenders = Contender::both(folder.path(), runtime);
        let race = Race::run(&contenders, senders.into(), form.rounds(), form.turn(), runtime);
        let figures = [
            plain(race.rate(0), ""),
            plain(race.rate(1), ""),
            at_least(race.ratio(0, 1), GOAL, " ×"),
            plain(race.p99(0), " ms"),
            plain(race.p99(1), " ms"),
        ];
        table.row(senders, figures);
    }
    println!("{table}");
}

fn drain(form: Form, runtime: &Runtime) {
    let mut table = Table::new(
        "jobs of 16 KB a second, claimed, decoded and completed by one worker : Effectum, with WAL and FULL",
        &["handlers at once", "inbox", "Effectum", "inbox : it"],
    );
    for handlers in AT_ONCE {
        let inbox = || {
            let folder = scratch::folder();
            runtime.block_on(claims::rate(&folder.path().join("inbox.db"), handlers.into()))
        };
        let effectum = || {
            let folder = scratch::folder();
            runtime.block_on(queue::rate(folder.path(), handlers))
        };
        let rounds: Vec<(f64, f64)> = (0..form.rounds())
            .map(|round| {
                // The order changes, so that neither always runs after the other.
                if round % 2 == 0 {
                    (inbox(), effectum())
                } else {
                    let effectum = effectum();
                    (inbox(), effectum)
                }
            })
            .collect();
        let figures = [
            plain(median(rounds.iter().map(|round| round.0)), ""),
            plain(median(rounds.iter().map(|round| round.1)), ""),
            at_least(median(rounds.iter().map(|(inbox, effectum)| inbox / effectum)), GOAL, " ×"),
        ];
        table.row(handlers, figures);
    }
    println!("{table}");
}

/// A runtime as `#[tokio::main]` makes it.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}
