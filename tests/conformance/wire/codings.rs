use super::parser::{Fate::Status, LET_IN, Row, malformed, odd};

/// `Transfer-Encoding`, and what it says beside a length: where readers disagree about these, a
/// delivery can be smuggled into the body of another.
pub(super) fn rows() -> Vec<Row> {
    [spelled(), several(), with_a_length()].concat()
}

/// The coding is this text, with chunks behind it.
fn coded(coding: &str) -> String {
    ["{start}Transfer-Encoding:", coding, "\r\n\r\n{chunks}"].concat()
}

fn spelled() -> Vec<Row> {
    let named = |name: &str| ["{start}", name, ": chunked\r\n\r\n{chunks}"].concat();
    vec![
        odd("Transfer-Encoding: CHUNKED", coded(" CHUNKED"), LET_IN, LET_IN),
        odd("white space around chunked", coded("\t chunked \t"), LET_IN, LET_IN),
        odd("no space before chunked", coded("chunked"), LET_IN, LET_IN),
        odd("Transfer-Encoding in mixed letter cases", named("tRANSFER-eNCODING"), LET_IN, LET_IN),
        malformed("an unknown transfer encoding", coded(" xchunked")),
        malformed("a coding that begins like chunked", coded(" chunkedx")),
        malformed("a vertical tab before chunked", coded(" \x0bchunked")),
        malformed("a vertical tab behind chunked", coded(" chunked\x0b")),
        malformed("a zero byte behind chunked", coded(" chunked\0")),
        malformed("a carriage return before chunked", coded("\rchunked")),
        malformed("a no-break space before chunked", coded(" \u{a0}chunked")),
        malformed("chunked in quotes", coded(" \"chunked\"")),
        malformed("chunked with a parameter", coded(" chunked;q=1")),
        malformed("chunked on a folded line", coded("\r\n chunked")),
        malformed("an empty transfer encoding", coded("")),
        malformed("a space before the colon of the coding", named("Transfer-Encoding ")),
        // Without the header that it nearly is, there is no body, and the chunks are no request.
        odd(
            "an underscore in Transfer-Encoding",
            named("Transfer_Encoding"),
            &[Status(400)],
            &[Status(400)],
        ),
        odd(
            "chunked as a content encoding",
            named("Content-Encoding"),
            &[Status(415)],
            &[Status(415)],
        ),
    ]
}

fn several() -> Vec<Row> {
    vec![
        malformed("chunked, and gzip around it", coded(" chunked, gzip")),
        malformed("chunked, and identity around it", coded(" chunked, identity")),
        malformed("identity", coded(" identity")),
        malformed("identity, and chunked around it", coded(" identity, chunked")),
        malformed("gzip", coded(" gzip")),
        // hyper looks at the last coding alone. The body is not decompressed, and so must be JSON as it is.
        // hyper has no objection to these, but the core has: a proxy in front may read them otherwise.
        malformed("gzip, and chunked around it", coded(" gzip, chunked")),
        malformed("chunked twice in one header", coded(" chunked, chunked")),
        malformed("a comma before chunked", coded(" ,chunked")),
        malformed("a comma behind chunked", coded(" chunked,")),
        malformed("chunked in two headers", coded(" chunked\r\nTransfer-Encoding: chunked")),
        malformed(
            "identity and chunked in two headers",
            coded(" identity\r\nTransfer-Encoding: chunked"),
        ),
        malformed(
            "chunked and identity in two headers",
            coded(" chunked\r\nTransfer-Encoding: identity"),
        ),
        malformed("chunked and nothing in two headers", coded(" chunked\r\nTransfer-Encoding:")),
        malformed(
            "chunked and a coding of no standard",
            coded(" chunked\r\nTransfer-Encoding: cow"),
        ),
    ]
}

/// RFC 9112, section 6.3: they may be refused, or the length ignored and the connection closed.
fn with_a_length() -> Vec<Row> {
    let shorter = "{start}{chunked}Content-Length: 5\r\n\r\n{chunks}";
    let none = "{start}{chunked}Content-Length: 0\r\n\r\n{chunks}";
    let first = "{start}Content-Length: 0\r\n{chunked}\r\n{chunks}";
    let coded = |coding: &str| ["{start}", coding, "\r\n{sized}\r\n{article}"].concat();
    vec![
        malformed("a length, then chunks", "{start}{sized}{chunked}\r\n{chunks}")
            .but_axum_lets_it_in(),
        malformed("chunks, then a length", "{start}{chunked}{sized}\r\n{chunks}")
            .but_axum_lets_it_in(),
        malformed("chunks, then a shorter length", shorter).but_axum_lets_it_in(),
        malformed("chunks, then a length of zero", none).but_axum_lets_it_in(),
        malformed("a length of zero, then chunks", first).but_axum_lets_it_in(),
        malformed("identity and a length", coded("Transfer-Encoding: identity")),
        malformed("an unknown coding and a length", coded("Transfer-Encoding: xchunked")),
        malformed("an empty coding and a length", coded("Transfer-Encoding:")),
        malformed("gzip and a length", coded("Transfer-Encoding: gzip")),
        malformed("a folded coding and a length", coded("Transfer-Encoding:\r\n chunked")),
        malformed(
            "a space before the colon of the coding, and a length",
            coded("Transfer-Encoding : chunked"),
        ),
        odd(
            "an underscore in the coding, and a length",
            coded("Transfer_Encoding: chunked"),
            LET_IN,
            LET_IN,
        ),
        odd(
            "a coding that the answer may have, and a length",
            coded("TE: chunked"),
            LET_IN,
            LET_IN,
        ),
    ]
}
