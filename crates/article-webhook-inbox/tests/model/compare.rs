use fastrand::Rng;

use crate::pair::{Difference, Pair};

/// How many sequences share a pair of stores. After each, all its jobs are erased.
const SHARED: u64 = 500;

/// Compares as many sequences as the form asks for, or the one of a seed.
pub(crate) fn run(short: u64, long: u64) {
    let arguments: Vec<_> = std::env::args().collect();
    let seed = arguments.iter().skip_while(|argument| *argument != "--seed").nth(1);
    let is_long = arguments.iter().any(|argument| argument == "--long");
    let (first, sequences) = match seed {
        Some(seed) => (seed.parse().expect("a seed is a number"), 1),
        None => (fastrand::u64(..u64::MAX / 2), if is_long { long } else { short }),
    };

    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let steps = runtime.block_on(compare(first, sequences));
    println!("model: {sequences} sequences from seed {first}, {steps} calls: no difference");
}

/// The steps of a seed, each with a seed of its own: a sequence stays valid when steps are taken out.
fn sequence(seed: u64) -> Vec<u64> {
    let mut rng = Rng::with_seed(seed);
    (0..rng.usize(20..=50)).map(|_| rng.u64(..)).collect()
}

/// Runs the sequences of consecutive seeds, and returns how many steps they had.
async fn compare(first: u64, sequences: u64) -> usize {
    let (mut steps, mut pair) = (0, Pair::fresh());
    for number in 0..sequences {
        if number % SHARED == SHARED - 1 {
            pair = Pair::fresh();
        }
        let sequence = sequence(first + number);
        if let Err(difference) = pair.run(&sequence).await {
            let (difference, again) = match shrunk(&sequence).await {
                Some(shrunk) => (shrunk, "shows it again"),
                None => (difference, "alone does not show it: it needs sequences before it"),
            };
            println!("{}", difference.reported);
            panic!("the stores differ: `-- --seed {}` {again}", first + number);
        }
        steps += sequence.len();
    }
    steps
}

/// The same difference, or another one, with as few steps as possible: no step can be left out. `None` if new stores show
/// no difference.
async fn shrunk(steps: &[u64]) -> Option<Difference> {
    let mut difference = difference(steps).await?;
    let mut steps = steps[..difference.steps].to_vec();
    let mut at = 0;
    while at < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        match self::difference(&fewer).await {
            // A step that was needed before may not be needed now.
            Some(found) => (steps, difference, at) = (fewer, found, 0),
            None => at += 1,
        }
    }
    Some(difference)
}

async fn difference(steps: &[u64]) -> Option<Difference> {
    Pair::fresh().run(steps).await.err()
}
