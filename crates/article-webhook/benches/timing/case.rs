use std::ops::Range;

use fastrand::Rng;

/// The `Authorization` header that is presented, always the same one.
pub(crate) const PRESENTED: &str =
    "Bearer 5f2b9c0e7a1d4e3891d2c4f07ab3e5c6c07e4b1fd2a8963b7f04e6d1a5928c3e";

const LENGTH: usize = PRESENTED.len();

/// How much a secret may be longer or shorter.
const HALF: usize = LENGTH / 2;

/// Two classes of secrets, which are both refused, or both accepted.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Whether one of the tokens is the presented one.
    pub(crate) accepts: bool,
    /// Each draws the accepted tokens of one receiver.
    pub(crate) classes: [fn(&mut Rng) -> Vec<String>; 2],
}

pub(crate) const CASES: [Case; 7] = [
    Case {
        name: "the first byte differs : the last",
        accepts: false,
        classes: [|rng| vec![other(0..1, rng)], |rng| vec![other(LENGTH - 1..LENGTH, rng)]],
    },
    Case {
        name: "the first byte differs : one in the middle",
        accepts: false,
        classes: [|rng| vec![other(0..1, rng)], |rng| vec![other(HALF..HALF + 1, rng)]],
    },
    Case {
        name: "the last byte differs : every byte",
        accepts: false,
        classes: [|rng| vec![other(LENGTH - 1..LENGTH, rng)], |rng| vec![other(0..LENGTH, rng)]],
    },
    Case {
        name: "the secret is shorter : its second half differs",
        accepts: false,
        classes: [|_| vec![PRESENTED[..HALF].to_owned()], |rng| vec![other(HALF..LENGTH, rng)]],
    },
    Case {
        name: "the secret is longer : its last byte differs",
        accepts: false,
        classes: [
            |_| vec![[PRESENTED, &PRESENTED[HALF..]].concat()],
            |rng| vec![other(LENGTH - 1..LENGTH, rng)],
        ],
    },
    Case {
        name: "of nine, the first is all but right : the ninth",
        accepts: false,
        classes: [
            |rng| nine(LENGTH - 1..LENGTH, Rng::lowercase, rng),
            |rng| nine(LENGTH - 1..LENGTH, |rng| rng.digit(10), rng),
        ],
    },
    Case {
        name: "of nine, the first is right : the ninth",
        accepts: true,
        classes: [
            |rng| nine(0..0, Rng::lowercase, rng),
            |rng| nine(0..0, |rng| rng.digit(10), rng),
        ],
    },
];

/// The presented token with other letters and digits in that place.
fn other(place: Range<usize>, rng: &mut Rng) -> String {
    let mut byte = |(at, own)| loop {
        let drawn = rng.alphanumeric();
        if !place.contains(&at) {
            return own;
        }
        if drawn != own {
            return drawn;
        }
    };
    PRESENTED.chars().enumerate().map(&mut byte).collect()
}

/// Nine tokens, of which one is as `other` makes it, and the others differ in every byte. In a receiver they are ordered
/// by their bytes, and eight are compared at a time: the one comes first if the others begin with lower case letters,
/// and last, alone, if they begin with digits.
fn nine(place: Range<usize>, first: fn(&mut Rng) -> char, rng: &mut Rng) -> Vec<String> {
    let mut tokens = vec![other(place, rng)];
    for _ in 0..8 {
        let token = other(1..LENGTH, rng);
        tokens.push(format!("{}{}", first(rng), &token[1..]));
    }
    tokens.sort();
    tokens
}
