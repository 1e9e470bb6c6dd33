use super::parser::{Fate::Status, LET_IN, Row, cut, malformed, odd};

pub(super) fn rows() -> Vec<Row> {
    [broken(), early(), legal(), codings()].concat()
}

/// A chunked request with this behind its head.
fn chunked(body: &str) -> String {
    ["{start}{chunked}\r\n", body].concat()
}

/// A chunk whose size is written so, and the last one.
fn sized(size: &str) -> String {
    chunked(&[size, "\r\n{article}\r\n0\r\n\r\n"].concat())
}

fn broken() -> Vec<Row> {
    vec![
        malformed("a chunk size of letters", sized("xyz")),
        malformed("a negative chunk size", sized("-{size}")),
        malformed("a chunk size that says hexadecimal", sized("0x{size}")),
        malformed("a chunk size over 64 bits", sized("100000000000000{size}")),
        malformed("no chunk size", sized("")),
        malformed("a space before the chunk size", sized(" {size}")),
        malformed("a line feed in a chunk extension", sized("{size};a\nb")),
        malformed("a chunk longer than its size", sized("5")),
        malformed("a chunk shorter than its size", sized("70")),
        malformed("no line end behind a chunk", chunked("{size}\r\n{article}0\r\n\r\n")),
        malformed("chunks in bare line feeds", chunked("{size}\n{article}\n0\n\n")),
        malformed("chunks in bare carriage returns", chunked("{size}\r{article}\r0\r\r")),
    ]
}

fn early() -> Vec<Row> {
    vec![
        cut("no last chunk", chunked("{size}\r\n{article}\r\n")),
        cut("half a chunk", chunked("ffff\r\n{article}")),
        cut("no chunk at all", chunked("")),
        cut("a last chunk without its end", chunked("{size}\r\n{article}\r\n0\r\n")),
    ]
}

fn legal() -> Vec<Row> {
    let trailer = |line| chunked(&["{size}\r\n{article}\r\n0\r\n", line, "\r\n\r\n"].concat());
    vec![
        odd("a chunk extension", sized("{size};a=b"), LET_IN, LET_IN),
        odd("a chunk size with zeros before it", sized("0000{size}"), LET_IN, LET_IN),
        odd("a space behind the chunk size", sized("{size} "), LET_IN, LET_IN),
        odd("a trailer", trailer("X-Trailer: a"), LET_IN, LET_IN),
        odd("a token in the trailer", trailer("Authorization: Bearer guess"), LET_IN, LET_IN),
        // actix-web skips trailers without reading them; the body is whole before they come.
        odd("a trailer without colon", trailer("X-Trailer"), &[Status(400)], LET_IN),
    ]
}

/// `Transfer-Encoding`, with chunks behind it.
fn codings() -> Vec<Row> {
    let coded = |coding: &str| ["{start}Transfer-Encoding: ", coding, "\r\n\r\n{chunks}"].concat();
    vec![
        odd("Transfer-Encoding: CHUNKED", coded("CHUNKED"), LET_IN, LET_IN),
        malformed("an unknown transfer encoding", coded("xchunked")),
        malformed("a vertical tab before chunked", coded("\x0bchunked")),
        malformed("chunked, and gzip around it", coded("chunked, gzip")),
        malformed("identity", coded("identity")),
        // hyper looks at the last coding alone. The body is not decompressed, and so must be JSON as it is.
        // hyper has no objection to these, but the core has: a proxy in front may read them otherwise.
        malformed("gzip, and chunked around it", coded("gzip, chunked")),
        malformed("chunked twice in one header", coded("chunked, chunked")),
        malformed("chunked in two headers", coded("chunked\r\nTransfer-Encoding: chunked")),
    ]
}
