//! Damages an inbox in every place, salvages it, and works on the new one to the end.
//!
//! The inbox has 40 articles in every state and a ledger with orders. Each 4 KiB sector of its file is zeroed or made noise,
//! without a log and with one that holds the newest half; each sector of the log too; single bits of the log are flipped; and
//! both are cut short. Each damage gets a copy of the files. After the salvage, each article is there with a body that was
//! sent, or its job is named and expected. Then everything is delivered again, and each order is made again: what was done is
//! not handled, and what was ordered is not ordered ([`trial`]).
//!
//! It tries each sector of the file without a log, and some of the others and 30 bits of the logs; with `-- --long`, every
//! sector and 4,000 bits. `-- --only 7` tries one
//! damage, and keeps its files.

#![allow(clippy::print_stdout)] // a program may

mod base;
mod damages;
mod trial;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use base::Base;
use damages::{Damage, Form};
use trial::Outcome;

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let is_long = arguments.iter().any(|argument| argument == "--long");
    let form = if is_long { Form::Long } else { Form::Short };
    let only = arguments.iter().skip_while(|argument| *argument != "--only").nth(1);
    let only: Option<usize> = only.map(|only| only.parse().expect("a number"));

    let began = Instant::now();
    let bases = Base::all();
    for base in &bases {
        let outcome = trial::run(base, &base.files, (false, false));
        assert!(
            outcome.wrong.is_empty() && outcome.is_whole,
            "{}, undamaged: {outcome:#?}",
            base.name
        );
    }
    let damages = damages::all(&bases, form);
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && number < damages.len()
                {
                    if only.is_some_and(|only| only != number) {
                        continue;
                    }
                    let Damage { base, .. } = &damages[number];
                    let files = damages[number].damaged(&bases[*base]);
                    let outcome = trial::run(
                        &bases[*base],
                        &files,
                        (damages[number].is_large(), only.is_some()),
                    );
                    outcomes.lock().expect("no thread panics").push((number, outcome));
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no thread panics");
    let mut is_sound = true;
    for (number, outcome) in &outcomes {
        if let Some(wrong) = outcome.wrong.first() {
            println!("✗ --only {number}, {}: {wrong}", damages[*number].shown(&bases));
            is_sound = false;
        }
    }
    let sum = |count: fn(&Outcome) -> usize| {
        outcomes.iter().map(|(_, outcome)| count(outcome)).sum::<usize>()
    };
    println!(
        "salvage: {} damages in {} s: {} without loss; {} articles lost and expected, {} entries dead to be looked at, {} \
         ledgers with gaps",
        outcomes.len(),
        began.elapsed().as_secs(),
        sum(|outcome| usize::from(outcome.is_whole)),
        sum(|outcome| outcome.lost),
        sum(|outcome| outcome.doubtful),
        sum(|outcome| usize::from(outcome.has_gaps)),
    );
    assert!(is_sound, "something was lost without a name, or done twice");
}
