use crate::{pair::Pair, shrink, step};

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

/// Runs the sequences of consecutive seeds, and returns how many steps they had.
async fn compare(first: u64, sequences: u64) -> usize {
    let (mut steps, mut pair) = (0, Pair::fresh());
    for number in 0..sequences {
        if number % SHARED == SHARED - 1 {
            pair = Pair::fresh();
        }
        let sequence = step::sequence(first + number);
        if let Err(difference) = pair.run(&sequence).await {
            let seed = first + number;
            let (reported, steps, again) = match shrink::shrunk(&sequence).await {
                Some((steps, difference)) => (difference.reported, steps, "shows it again"),
                None => {
                    let steps = sequence[..difference.steps].to_vec();
                    (
                        difference.reported,
                        steps,
                        "alone does not show it: it needs sequences before it",
                    )
                }
            };
            println!("seed {seed}, {steps:#?}\n\nthe stores differ about {reported}");
            panic!("the stores differ: `-- --seed {seed}` {again}");
        }
        steps += sequence.len();
    }
    steps
}
