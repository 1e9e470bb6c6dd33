use super::parser::{
    Fate::{Closed, LetIn, Status},
    LET_IN, Row, cut, malformed, odd,
};

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
        // RFC 9112, section 6.3: they may be refused, or the length ignored and the connection closed.
        malformed("a length, then chunks", "{start}{sized}{chunked}\r\n{chunks}")
            .but_axum_lets_it_in(),
        malformed("chunks, then a length", "{start}{chunked}{sized}\r\n{chunks}")
            .but_axum_lets_it_in(),
        malformed(
            "chunks, then a shorter length",
            "{start}{chunked}Content-Length: 5\r\n\r\n{chunks}",
        )
        .but_axum_lets_it_in(),
        malformed(
            "identity and a length",
            "{start}Transfer-Encoding: identity\r\n{sized}\r\n{article}",
        ),
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
