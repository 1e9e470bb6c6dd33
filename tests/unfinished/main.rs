//! A thousand senders with the token who begin a body and never end it: all of them together must stay within the
//! receiver's budget. Four thousand strangers: they take what `SECURITY.md` says. Each server is a child process of this
//! program, so that its memory can be measured.

#![allow(clippy::print_stdout)] // a program writes to its terminal

#[path = "../child.rs"]
mod child;
mod crowd;
mod server;
mod strangers;

use std::{thread, time::Duration};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::Framework;
use strangers::Part;

const MIB: u64 = 1 << 20;

/// The default budget of a receiver.
const BUDGET: u64 = 64 * MIB;

/// The most memory that this number of connections may take. A body that grows has room for as much again, and is copied
/// when that is used up. The buffers of a connection come on top: actix-web reads up to 160 KiB ahead.
fn most(connections: u64) -> u64 {
    3 * BUDGET + connections * (160 << 10)
}

fn main() {
    if let Some(framework) = Framework::from_args() {
        framework.serve();
        return;
    }
    raise_the_limit_of_open_files();
    for framework in Framework::ALL {
        a_thousand_unfinished_bodies_stay_within_the_budget(framework);
    }
    four_thousand_strangers_take_what_the_page_on_security_says();
}

fn raise_the_limit_of_open_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let enough = maximum.is_none_or(|maximum| maximum >= 4_096);
    assert!(enough, "a thousand connections need 4096 open files: raise the limit, `ulimit -Hn`");
    setrlimit(Resource::Nofile, Rlimit { current: maximum.or(Some(4_096)), maximum })
        .expect("a limit may be raised to its maximum");
}

/// Each sends 1 MiB of 8, which is 1,000 MiB.
fn a_thousand_unfinished_bodies_stay_within_the_budget(framework: Framework) {
    let server = framework.start();
    let before = server.peak_memory();
    let crowd = crowd::gather(server.address, 1_000, 900);
    let grown = server.peak_memory() - before;
    let refused = crowd.refused;
    println!("unfinished: {framework:?}: {} MiB more, {refused} of 1000 refused", grown / MIB);
    // Less than the budget in memory would mean that the senders did not fill it.
    assert!(grown > BUDGET / 2, "{framework:?}: {grown} bytes: this shows nothing");
    assert!(grown < most(1_000), "{framework:?}: {grown} bytes");
    assert!(refused >= 900, "{framework:?}: only {refused} senders were refused");

    assert!(!crowd::is_stored(server.address), "{framework:?}: the budget is not used up");
    drop(crowd);
    // The server notices in a moment that the senders are gone.
    let is_released = (0..50).any(|_| {
        thread::sleep(Duration::from_millis(100));
        crowd::is_stored(server.address)
    });
    assert!(is_released, "{framework:?}: the budget is not released");
}

const SECURITY: &str = include_str!("../../SECURITY.md");

const STRANGERS: usize = 4_000;

/// The figures of the row, in MiB: silent connections, unfinished heads, refused bodies.
fn figures_of_the_page() -> Vec<u64> {
    let row = SECURITY.lines().find(|line| line.contains("memory of 4,000 connections"));
    let words: Vec<_> = row.expect("the table has the row").split_whitespace().collect();
    let figures = words.windows(2).filter(|pair| pair[1].starts_with("MiB"));
    figures.map(|pair| pair[0].parse().expect("it is a number")).collect()
}

fn four_thousand_strangers_take_what_the_page_on_security_says() {
    let parts = [
        ("silent", Part::Nothing),
        ("unfinished heads", Part::Head),
        ("refused bodies", Part::Body),
    ];
    let figures = figures_of_the_page();
    assert_eq!(figures.len(), parts.len(), "{figures:?}");
    let mut line = String::from("unfinished: strangers: at the peak and after it, in MiB:");
    for ((name, part), figure) in parts.into_iter().zip(figures) {
        let taken = strangers::hold(&Framework::Server.start(), STRANGERS, part);
        let (peak, kept) = (taken.peak / MIB, taken.kept / MIB);
        line += &format!(" {name} {peak}, {kept};");
        assert!(peak <= figure, "{name}: {peak} MiB, and SECURITY.md says {figure}");
        // A figure far above what is taken would hide a regression.
        assert!(peak >= figure / 3, "{name}: {peak} MiB, and SECURITY.md says {figure}");
    }
    println!("{}", line.trim_end_matches(';'));
}
