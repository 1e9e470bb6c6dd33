//! Damages inboxes in every place, starts them or salvages them, and works on them to the end.
//!
//! The inboxes have articles in every state and a ledger with orders. A spot is one bit of the file or of its log, in each kind of
//! page; the long form also zeroes, tears and scrambles what is around it. A start on a copy of the damaged files works, or is
//! refused, and a worker that gets any article gets a sound one ([`started`], [`verdict`]). Whatever a start says, a salvage of another
//! copy, with its lock, loses no article without its name, handles nothing twice and orders nothing twice ([`salvaged`]). Salvaged alone
//! are the damages of a sweep: each 4 KiB sector is zeroed, made noise, or the end of its file.
//!
//! It tries 30 spots and a part of the sweep, or 25,000 and the whole sweep with `-- --long`. `-- --seed 42` repeats a run, and
//! `-- --only 7` one damage of it, whose files it keeps. `-- --count 5000` sets the number of spots.

#![allow(clippy::print_stdout)] // a program may

mod base;
mod damages;
mod salvaged;
mod started;
mod verdict;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use base::Base;
use damages::{Damage, Form};

const SHORT: usize = 30;
const LONG: usize = 25_000;

/// What became of one damage: what must never happen, what a start did, and what a salvage did.
struct Outcome {
    wrong: Vec<String>,
    start: Option<&'static str>,
    salvage: Option<salvaged::Outcome>,
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let number = |name: &str| {
        let value = arguments.iter().skip_while(|argument| *argument != name).nth(1)?;
        Some(value.parse::<usize>().expect("a number"))
    };
    let is_long = arguments.iter().any(|argument| argument == "--long");
    let form = if is_long { Form::Long } else { Form::Short };
    let seed = number("--seed").map_or_else(|| fastrand::u64(..1 << 32), |seed| seed as u64);
    let count = number("--count").unwrap_or(if is_long { LONG } else { SHORT });

    let began = Instant::now();
    let bases = Base::all();
    let mut damages = damages::spots(&bases, form, (count, seed));
    damages.extend(damages::sweep(&bases, form));
    started::count_panics();
    let outcomes = try_all(&bases, &damages, count, number("--only"));

    let mut starts: BTreeMap<_, usize> = BTreeMap::new();
    let mut wrong = 0;
    for (number, outcome) in &outcomes {
        if let Some(start) = outcome.start {
            *starts.entry(start).or_default() += 1;
        }
        for says in &outcome.wrong {
            println!("✗ --only {number}, {}: {says}", damages[*number]);
        }
        wrong += usize::from(!outcome.wrong.is_empty());
    }
    let starts: Vec<_> = starts.iter().map(|(start, count)| format!("{count} {start}")).collect();
    let sum = |count: fn(&salvaged::Outcome) -> usize| {
        outcomes.values().filter_map(|outcome| outcome.salvage.as_ref()).map(count).sum::<usize>()
    };
    println!(
        "damage: {count} spots from seed {seed} in {} s: {}; damage spread from {wrong} spots",
        began.elapsed().as_secs(),
        starts.join(", ")
    );
    println!(
        "salvage: {} damages: {} without loss; {} articles lost and expected, {} entries dead to be looked at, {} ledgers with gaps",
        sum(|_| 1),
        sum(|salvage| usize::from(salvage.is_whole)),
        sum(|salvage| salvage.lost),
        sum(|salvage| salvage.doubtful),
        sum(|salvage| usize::from(salvage.has_gaps)),
    );
    let long = if is_long { "--long " } else { "" };
    assert!(
        wrong == 0,
        "damage spread: `-- {long}--seed {seed} --count {count} --only N` tries one damage again"
    );
}

/// Tries the damages, on as many threads as there are processors. The first of them are started, too.
fn try_all(
    bases: &[Base],
    damages: &[Damage],
    started: usize,
    only: Option<usize>,
) -> BTreeMap<usize, Outcome> {
    let whole: Vec<_> = bases.iter().map(started::undamaged).collect();
    bases.iter().filter(|base| base.has_lock()).for_each(salvaged::undamaged);
    let (next, outcomes) = (AtomicUsize::new(only.unwrap_or(0)), Mutex::new(BTreeMap::new()));
    let end = only.map_or(damages.len(), |only| only + 1);
    let try_one = |number: usize| {
        let damage = &damages[number];
        let base = &bases[damage.base];
        let files = damage.damaged(base);
        let (mut start, mut wrong) = (None, Vec::new());
        if number < started {
            let observed = started::run(base, &files, number);
            if only.is_some() {
                println!("{observed:#?}");
            }
            let verdict = verdict::of((base, &whole[damage.base]), &files, &observed);
            (start, wrong) = (Some(verdict.outcome), verdict.wrong);
        }
        let salvage = base.has_lock().then(|| salvaged::run(base, (&files, damage.is_large())));
        wrong.extend(salvage.iter().flat_map(|salvage| salvage.wrong.clone()));
        if only.is_some() {
            println!("the files are in {}", files.write(&base::folder().keep()).display());
        }
        outcomes
            .lock()
            .expect("no thread panics")
            .insert(number, Outcome { wrong, start, salvage });
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && number < end
                {
                    try_one(number);
                }
            });
        }
    });
    outcomes.into_inner().expect("no thread panics")
}
