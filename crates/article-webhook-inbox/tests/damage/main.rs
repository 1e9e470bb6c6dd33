//! Flips single bits in databases with entries in each state, opens them, and works on them to the end.
//!
//! A spot is one bit of the database or of its log; the long form also zeroes and tears whole pages. Each spot gets a
//! copy of the files. The store opens the copy, looks for damage, runs a worker, takes one new delivery and one old one
//! again, closes and opens again. What it did is compared with what it does without damage ([`verdict`]).
//!
//! It tries 60 spots, or 25,000 with `-- --long`. `-- --seed 42` repeats a run, and `-- --spot 7` one spot
//! of it, whose files it keeps. `-- --count 5000` sets the number of spots.

#![allow(clippy::print_stdout)] // a program may

mod base;
mod damages;
mod report;
mod story;
mod trial;
mod verdict;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use base::Base;
use damages::{Damage, DamagedSpot};
use report::Report;

const SHORT: usize = 60;
/// Of these, 20,000 are bits.
const LONG: usize = 25_000;

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let number = |name: &str| {
        let value = arguments.iter().skip_while(|argument| *argument != name).nth(1)?;
        Some(value.parse().expect("a number"))
    };
    let is_long = arguments.iter().any(|argument| argument == "--long");
    let seed = number("--seed").unwrap_or_else(|| fastrand::u64(..1 << 32));
    let count = number("--count").and_then(|count| usize::try_from(count).ok());
    let count = count.unwrap_or(if is_long { LONG } else { SHORT });
    let damages: &[Damage] = if is_long { &Damage::ALL } else { &[Damage::Bit] };

    let began = Instant::now();
    let bases = Base::all();
    let spots = damages::choose(&bases, damages, count, seed);
    let only = number("--spot").and_then(|spot| usize::try_from(spot).ok());
    trial::count_panics();
    let report = try_all(&bases, &spots, only);
    println!("{report}");
    println!(
        "damage: {} spots from seed {seed} in {} s: {}",
        report.spots(),
        began.elapsed().as_secs(),
        report.summary()
    );
    let form = if is_long { "--long " } else { "" };
    assert!(
        report.is_sound(),
        "damage spread: `-- {form}--seed {seed} --count {count} --spot N` shows one spot again"
    );
}

/// Tries the spots, on as many threads as there are processors.
fn try_all(bases: &[Base], spots: &[DamagedSpot], only: Option<usize>) -> Report {
    let whole: Vec<_> = bases.iter().map(trial::undamaged).collect();
    let (next, report) = (AtomicUsize::new(only.unwrap_or(0)), Mutex::new(Report::default()));
    let end = only.map_or(spots.len(), |spot| spot + 1);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        break;
                    }
                    let spot = &spots[number];
                    let (base, whole) = (&bases[spot.base], &whole[spot.base]);
                    let files = spot.damaged(base);
                    let observed = trial::run(base, &files, number);
                    let verdict = verdict::of((base, whole), &files, &observed);
                    if only.is_some() {
                        let kept = base::folder().keep();
                        println!(
                            "{observed:#?}\nthe files are in {}",
                            files.write(&kept).display()
                        );
                    }
                    report.lock().expect("no thread panics").add(number, spot, verdict);
                }
            });
        }
    });
    report.into_inner().expect("no thread panics")
}
