//! Changes to an input that a mutation of single bytes hardly ever makes: they know where a line, a
//! key or a value begins, and what sits on the edges of the rules.

use fastrand::Rng;

/// Pieces that sit on the edges of the rules.
pub const PIECES: [&[u8]; 48] = [
    br#""$serde_json::private::Number":"7","#,
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"null",
    b"true",
    br"\u0000",
    br"\ud83c",
    br"\udfc3",
    br"\ud83c\udfc3",
    b"NaN",
    b"-Infinity",
    b"\r",
    b"\x00",
    b"\x1b[0m",
    b"\xf0\x9f\x8f",
    br#""featured_image":["a.png"],"#,
    br"job\u005fid",
    br#""job_id":"job_7c1e4a52","#,
    br#""job_id":7,"#,
    br#""title":"again","#,
    br#""credits_used":"2","#,
    br#""status":"failed","#,
    br#""x":[{"text":"a","body":"b"},7],"#,
    br#""featured_image":null,"#,
    b"\xff",
    b"\xef\xbb\xbf",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"\n",
    b"\t",
    b"\nAuthorization: Bearer fixture-5f2b9c0e7a1d4e38",
    b"\nAuthorization: Bearer",
    b"\nContent-Type: application/json; charset=\"utf-8\"",
    b"\nContent-Type: text/plain",
    b"\nContent-Encoding: identity, gzip",
    b"\nContent-Length: auto",
    b"\nContent-Length: 7",
    b"\nTransfer-Encoding: chunked",
    b"\nX-Service-Event: article.updated",
    b"\nX-Service-Job-Id: job_7c1e4a52",
    b"\nExpect: 100-continue",
    b"Bearer ",
    b"changeme",
];

/// Numbers that are written or held in an unusual way.
const NUMBERS: &str = "\
    0 -0 -0.0 44.0 4.4e1 440E-1 0.1 1e999 -1e-999 9007199254740993 \
    9007199254740992.0 18446744073709551615 18446744073709551616 -9223372036854775808 1.7976931348623157e308 5e-324";

/// Changes the input in one to four places, which the seed chooses.
pub fn mutate(input: &mut Vec<u8>, seed: u64) {
    let mut dice = Rng::with_seed(seed);
    for _ in 0..dice.usize(1..=4) {
        edit(input, &mut dice);
    }
}

fn edit(input: &mut Vec<u8>, dice: &mut Rng) {
    let place = dice.usize(0..=input.len());
    let (from, to) = (mark(input, place), mark(input, dice.usize(0..=input.len())));
    let span = from.min(to)..from.max(to);
    match dice.u8(0..9) {
        0 => insert(input, place, PIECES[dice.usize(0..PIECES.len())]),
        1 => insert(input, from, PIECES[dice.usize(0..PIECES.len())]),
        2 => drop(input.drain(span)),
        3 => {
            let piece = input[span].to_vec();
            insert(input, from, &piece);
        }
        4 => {
            let piece = input[span].to_vec();
            let elsewhere = mark(input, dice.usize(0..=input.len()));
            insert(input, elsewhere, &piece);
        }
        5 => {
            let numbers: Vec<_> = NUMBERS.split(' ').collect();
            renumber(input, place, numbers[dice.usize(0..numbers.len())].as_bytes());
        }
        6 => escape(input, place),
        7 => nest(input, span, dice.usize(1..=70)),
        _ => input.get_mut(place).into_iter().for_each(|byte| *byte = dice.u8(..)),
    }
}

fn insert(input: &mut Vec<u8>, place: usize, piece: &[u8]) {
    input.splice(place..place, piece.iter().copied());
}

/// Where the next part of JSON or the next line begins.
fn mark(input: &[u8], place: usize) -> usize {
    let next = input[place..].iter().position(|byte| b"{}[]:,\"\n\xff".contains(byte));
    next.map_or(input.len(), |next| place + next)
}

/// Writes another number in the place of the next one.
fn renumber(input: &mut Vec<u8>, place: usize, number: &[u8]) {
    let digit = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let Some(start) = input[place..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = place + start;
    let end = input[start..].iter().position(|byte| !digit(byte));
    let end = end.map_or(input.len(), |end| start + end);
    input.splice(start..end, number.iter().copied());
}

/// Writes one character as an escape, which is the same to every reader of a JSON string.
fn escape(input: &mut Vec<u8>, place: usize) {
    if let Some(&byte) = input.get(place) {
        input.splice(place..=place, format!("\\u{byte:04x}").into_bytes());
    }
}

fn nest(input: &mut Vec<u8>, span: std::ops::Range<usize>, levels: usize) {
    insert(input, span.end, "]".repeat(levels).as_bytes());
    insert(input, span.start, "[".repeat(levels).as_bytes());
}
