//! What the inbox stores and drains in a second, beside a table by hand and two queues on SQLite, in the same run, on the disk of
//! the target folder. Each of them commits with `synchronous = FULL` in WAL mode.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)] // a benchmark prints its figures

mod apalis;
#[path = "../../crates/article-webhook-inbox/benches/inbox/bodies.rs"]
mod bodies;
mod by_hand;
#[path = "../../crates/article-webhook-inbox/benches/inbox/claims.rs"]
mod claims;
mod contenders;
mod effectum;
#[path = "../../crates/article-webhook-inbox/benches/inbox/form.rs"]
mod form;
#[path = "../../crates/article-webhook-inbox/benches/inbox/load.rs"]
mod load;
#[path = "../../crates/article-webhook-inbox/benches/inbox/contenders/naive.rs"]
mod naive;
#[path = "../../crates/article-webhook-inbox/benches/inbox/scratch.rs"]
mod scratch;
mod syncs;
#[path = "../../crates/article-webhook-inbox/benches/inbox/table.rs"]
mod table;

use std::{env, process::ExitCode};

use contenders::Contender;
use form::{Form, median};
use load::Race;
use table::{Table, at_least, plain};
use tokio::runtime::Runtime;

const AT_ONCE: [u16; 3] = [1, 16, 64];
/// The least that the inbox should do in the time in which a peer does one.
const GOAL: f64 = 1.0;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if let Some(peer) = arguments.iter().skip_while(|argument| *argument != syncs::CHILD).nth(1) {
        syncs::child(peer);
        return ExitCode::SUCCESS;
    }
    let form = Form::of(&arguments);
    let runtime = runtime();
    let _entered = runtime.enter(); // in which Effectum closes a queue that is dropped
    syncs::check();
    store(form, &runtime);
    drain(form, &runtime);
    form.ending()
}

fn store(form: Form, runtime: &Runtime) {
    let mut table = Table::new(
        "peers: store",
        "jobs of 16 KB a second, on disk before their senders go on",
        &["senders at once", "a second", "inbox : it", "p99"],
    );
    for senders in AT_ONCE {
        let folder = scratch::folder();
        let contenders = Contender::all(folder.path(), runtime);
        let race = Race::run(&contenders, senders.into(), form.rounds(), form.turn(), runtime);
        for (index, contender) in contenders.iter().enumerate() {
            let ratio = compared(index, || race.ratio(0, index));
            let figures = [plain(race.rate(index), ""), ratio, plain(race.p99(index), " ms")];
            table.row(format!("{senders}, {contender}"), figures);
        }
    }
    println!("{table}");
}

fn drain(form: Form, runtime: &Runtime) {
    type Rate = fn(&std::path::Path, u16, &Runtime) -> f64;
    let peers: [(&str, Rate); 4] = [
        ("inbox", |folder, handlers, runtime| {
            runtime.block_on(claims::rate(&folder.join("inbox.db"), handlers.into()))
        }),
        ("two transactions each", |folder, handlers, _| by_hand::rate(folder, handlers)),
        ("Effectum", |folder, handlers, runtime| {
            runtime.block_on(effectum::rate(folder, handlers))
        }),
        ("apalis-sqlite", |folder, handlers, runtime| {
            runtime.block_on(apalis::rate(folder, handlers))
        }),
    ];
    let mut table = Table::new(
        "peers: drain",
        "jobs of 16 KB a second, claimed, decoded and completed by one worker",
        &["handlers at once", "a second", "inbox : it"],
    );
    for handlers in AT_ONCE {
        let mut rounds = vec![[0.0; 4]; form.rounds()];
        for (round, rates) in rounds.iter_mut().enumerate() {
            for index in 0..peers.len() {
                // The order changes, so that no peer always runs after the same other one.
                let index = (index + round) % peers.len();
                rates[index] = peers[index].1(scratch::folder().path(), handlers, runtime);
            }
        }
        for (index, (peer, _)) in peers.iter().enumerate() {
            let rate = median(rounds.iter().map(|rates| rates[index]));
            let ratio =
                compared(index, || median(rounds.iter().map(|rates| rates[0] / rates[index])));
            table.row(format!("{handlers}, {peer}"), [plain(rate, ""), ratio]);
        }
    }
    println!("{table}");
}

/// The ratio of the inbox to a peer, and nothing beside the inbox itself.
fn compared(index: usize, ratio: impl FnOnce() -> f64) -> String {
    if index == 0 { String::new() } else { at_least(ratio(), GOAL, " ×") }
}

/// A runtime as `#[tokio::main]` makes it.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}
