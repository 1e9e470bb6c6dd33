use super::parser::{
    Fate,
    Fate::{Closed, LetIn, Status},
    LET_IN, Row, cut, malformed, odd,
};

const TOO_LARGE: &[Fate] = &[Status(413)];

/// Refused for what the length cut off, and then for what was left.
const CUT_OFF: &[Fate] = &[Status(400)];

pub(super) fn rows() -> Vec<Row> {
    [several(), no_number(), early()].concat()
}

/// `Content-Length` is this text.
fn length(text: &str) -> String {
    ["{start}Content-Length: ", text, "\r\n\r\n{article}"].concat()
}

fn several() -> Vec<Row> {
    vec![
        malformed("two lengths", length("{length}\r\nContent-Length: 5")),
        malformed("two lengths in one header", length("{length}, 5")),
        // RFC 9110, section 8.6: they may be refused, or taken for one.
        odd(
            "a length twice",
            length("{length}\r\nContent-Length: {length}"),
            &[LetIn],
            &[Status(400)],
        ),
        malformed("a length twice in one header", length("{length}, {length}")),
        malformed(
            "three lengths",
            length("{length}\r\nContent-Length: 0\r\nContent-Length: {length}"),
        ),
        malformed("a length, then an empty one", length("{length}\r\nContent-Length:")),
        malformed(
            "a length, then another in other letters",
            length("{length}\r\ncontent-LENGTH: 5"),
        ),
        malformed("a comma before the length", length(",{length}")),
        malformed("a comma behind the length", length("{length},")),
        malformed("a length and a parameter", length("{length};a=b")),
    ]
}

fn no_number() -> Vec<Row> {
    vec![
        malformed("a length with a plus sign", length("+{length}")),
        malformed("a negative length", length("-{length}")),
        malformed("a length that says hexadecimal", length("0x57")),
        malformed("a length with a fraction", length("{length}.0")),
        malformed("a length of words", length("all")),
        malformed("an empty length", length("")),
        malformed("a length over 64 bits", length("99999999999999999999")),
        malformed("a length of 2^64", length("18446744073709551616")),
        malformed("a length that 64 bits would wrap", length("18446744073709551703")),
        malformed("a length of 30 digits", length("100000000000000000000000000087")),
        malformed("minus zero for a length", length("-0")),
        malformed("a space in the length", length("8 7")),
        malformed("an underscore in the length", length("8_7")),
        malformed("a length with an exponent", length("87e0")),
        malformed("a length in quotes", length("\"{length}\"")),
        malformed("a length of Arabic digits", length("٨٧")),
        malformed("a vertical tab behind the length", length("{length}\x0b")),
        malformed("a zero byte behind the length", length("{length}\0")),
        malformed("a no-break space before the length", length("\u{a0}{length}")),
        malformed("a carriage return in the length", length("8\r7")),
        malformed("a folded length", length("\r\n {length}")),
        odd("white space around the length", length(" {length}\t "), LET_IN, LET_IN),
        odd("a length of 32 bits and more", length("4294967383"), TOO_LARGE, TOO_LARGE),
        odd("a length of 63 bits", length("9223372036854775807"), TOO_LARGE, TOO_LARGE),
        odd("a length of 64 bits", length("18446744073709551615"), &[Status(431)], &[Status(413)]),
        odd("a length with zeros before it", length("000{length}"), LET_IN, LET_IN),
    ]
}

fn early() -> Vec<Row> {
    let head = "{start}{sized}\r\n";
    vec![
        cut("nothing of the body", head),
        cut("a byte of the body", [head, "{"].concat()),
        odd("no length, and no body", "{start}\r\n", &[Status(400)], &[Status(400)]),
        odd("a length of zero before a body", length("0"), CUT_OFF, CUT_OFF),
        odd("a length that cuts a body", length("5"), CUT_OFF, CUT_OFF),
        cut("ten times the length of the body", length("{length}0")),
        cut("nothing", ""),
        cut("half a head", "{line}Host: receiver.test\r\nAuthoriz"),
        odd(
            "a body without length in HTTP/1.0",
            "POST {path} HTTP/1.0\r\n{delivery}\r\n{article}",
            &[Status(400)],
            &[Status(400), Closed],
        ),
    ]
}
