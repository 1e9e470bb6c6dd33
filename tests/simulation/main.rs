//! The collector, the ledger, the rules and the inbox on one stepped clock, against the state machine of the service: one
//! seed draws one course of outages, lost answers, crashes and callers that hang up.
//!
//! ```text
//! cargo test -p article-webhook-tests --test simulation                     40 seeds
//! cargo test -p article-webhook-tests --test simulation -- --long           10,000 seeds
//! cargo test -p article-webhook-tests --test simulation -- --seed 17        this one, twice: both must be the same
//! cargo test -p article-webhook-tests --test simulation -- --count 1000     as many, from --seed or from 0
//! ```
//!
//! A run is a single thread with Tokio's paused clock, so that a seed replays exactly. The store is in memory and survives
//! each crash. A process that crashes does nothing more: what it called before is carried out or not, as drawn.
//!
//! What is checked comes from what the harness observes (`observed.rs`, `rate.rs`): what the service took, was asked and
//! answered, and what handlers were given. The worker is a model (`worker.rs`), everything else is the real code.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program may

mod api;
mod deliver;
mod faults;
mod forge;
mod ledger;
mod node;
mod observed;
mod orders;
mod plan;
mod rate;
mod run;
mod script;
mod store;
mod worker;
mod world;

use std::{
    cell::Cell,
    env, panic,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use article_webhook_inbox::JobState;
use article_webhook_tests::odd_body::OddBody;

use crate::{
    observed::Route,
    run::{Report, run},
    world::lock,
};

const SHORT: u64 = 40;
const LONG: u64 = 10_000;

/// How many of the first seeds are run twice.
const TWICE: u64 = 8;

/// The calls at which a process crashes, before or after they are carried out. The long form must reach each.
const POINTS: &str = "\
    abandon poll claim claim_polls create expect erase intend not_ordered order_again \
    ordered outcome_lost prune prune_ledger quarantine record report settle settle_poll";

thread_local! {
    /// Whether a run on this thread met a panic that was not planted. The application survives most of them.
    static PANICKED: Cell<bool> = const { Cell::new(false) };
}

fn main() -> ExitCode {
    let number = |name: &str| {
        let mut arguments = env::args().skip_while(|argument| argument != name).skip(1);
        arguments.next().map(|value| value.parse::<u64>().expect("a number follows"))
    };
    let is_long = env::args().any(|argument| argument == "--long");
    let seed = number("--seed");
    let standard = if is_long { LONG } else { SHORT };
    let count = number("--count").unwrap_or(if seed.is_some() { 1 } else { standard });
    quiet_planted_panics();
    run_all(seed.unwrap_or(0), count)
}

/// A planted panic is one of the faults.
fn quiet_planted_panics() {
    let standard = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<&str>() != Some(&"planted") {
            PANICKED.set(true);
            standard(info);
        }
    }));
}

fn run_all(first: u64, count: u64) -> ExitCode {
    let start = Instant::now();
    if count > KNOWN.len() as u64 {
        let mut known = KNOWN.iter().filter(|seed| !(first..first + count).contains(*seed));
        if !known.all(|seed| holds(*seed, first, &Mutex::default())) {
            return ExitCode::FAILURE;
        }
    }
    let (next, is_failed, sum) = (AtomicU64::new(first), AtomicBool::new(false), Mutex::default());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !is_failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    if !holds(seed, first, &sum) {
                        is_failed.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    if is_failed.into_inner() {
        return ExitCode::FAILURE;
    }
    let Report { crashes, seen, pruned, states, bodies, quarantined, forged } =
        sum.into_inner().unwrap_or_default();
    let counts = JobState::ALL.iter().zip(states).map(|(state, count)| format!("{count} {state}"));
    let counts: Vec<_> = counts.collect();
    println!(
        "simulation: seeds: {count} seeds in {:.1} s: {}; {pruned} pruned; crashes at {} points",
        start.elapsed().as_secs_f64(),
        counts.join(", "),
        crashes.len(),
    );
    let odd = bodies.iter().filter(|((_, odd), _)| odd.is_some()).map(|(_, count)| count);
    println!(
        "simulation: odd bodies: {} of {} bodies of articles were odd; {quarantined} entries in quarantine",
        odd.sum::<u64>(),
        bodies.values().sum::<u64>(),
    );
    println!("simulation: forged: {forged:?}");
    let kinds = OddBody::ALL
        .into_iter()
        .flat_map(|odd| [Route::Pushed, Route::Polled].map(|route| (route, Some(odd))));
    let unsent: Vec<_> = kinds.filter(|kind| !bodies.contains_key(kind)).collect();
    let ended = JobState::ALL.iter().zip(states).filter(|(state, _)| !state.is_open());
    let mut missing: Vec<_> = JobState::ALL.iter().filter(|state| !seen.contains(state)).collect();
    missing.extend(ended.filter(|(_, count)| *count == 0).map(|(state, _)| state));
    let points =
        POINTS.split(' ').flat_map(|point| [format!("before {point}"), format!("after {point}")]);
    let unreached: Vec<_> = points.filter(|point| !crashes.contains(point)).collect();
    for (is_gap, gap) in [
        (count >= SHORT && !unsent.is_empty(), format!("no body was {unsent:?}")),
        (count >= SHORT && forged.has_gaps(), format!("not all was forged: {forged:?}")),
        (count >= SHORT && !missing.is_empty(), format!("no job was, or ended, {missing:?}")),
        (count >= LONG && !unreached.is_empty(), format!("no process crashed {unreached:?}")),
    ] {
        if is_gap {
            println!("simulation: {gap}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Seeds that have shown something, which are always run first: a forged job that a worker has when the order is answered; a forged
/// job of an order that took nothing, beside the next order; two orders at once, of which one is asked for a pause; an answer that is
/// stored when retention has removed its job; a refused delivery that waits while the clock is set back.
const KNOWN: [u64; 5] = [244, 690, 2627, 8247, 26227];

/// Runs a seed; the first ones twice, because a seed that does not replay is worth nothing.
fn holds(seed: u64, first: u64, sum: &Mutex<Report>) -> bool {
    let twice = if env::args().any(|argument| argument == "--twice") { u64::MAX } else { TWICE };
    let (ending, report) = run(seed);
    let indented =
        |steps: &[String]| steps.iter().map(|step| format!("\n  {step}")).collect::<String>();
    let fault = if PANICKED.get() {
        Some("something panicked: see standard error".to_owned())
    } else if let Some(cause) = &ending.cause {
        Some(format!("{cause}\n{}", indented(&ending.steps)))
    } else if seed < first.saturating_add(twice) {
        let again = run(seed).0;
        let pairs = ending.steps.iter().zip(&again.steps).filter(|(step, other)| step != other);
        let pairs: Vec<_> =
            pairs.take(4).map(|(step, other)| format!("{step}\n  {other}")).collect();
        (again.hash != ending.hash).then(|| format!("it does not replay:{}", indented(&pairs)))
    } else {
        None
    };
    if let Some(fault) = fault {
        println!("\nsimulation: seed {seed}: {fault}");
        println!("\nagain: cargo test -p article-webhook-tests --test simulation -- --seed {seed}");
        return false;
    }
    lock(sum).add(report);
    true
}
