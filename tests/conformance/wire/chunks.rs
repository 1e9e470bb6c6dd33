use super::parser::{Fate, Fate::Status, LET_IN, Row, cut, malformed, odd};

const STRANGER: &[Fate] = &[Status(401)];

pub(super) fn rows() -> Vec<Row> {
    [broken(), early(), legal(), trailers()].concat()
}

/// A chunked request with this behind its head.
fn chunked(body: &str) -> String {
    ["{start}{chunked}\r\n", body].concat()
}

/// A chunk whose size is written so, and the last one.
fn sized(size: &str) -> String {
    chunked(&[size, "\r\n{article}\r\n0\r\n\r\n"].concat())
}

/// A last chunk whose size is zero, written so.
fn last(zero: &str) -> String {
    let zero = if zero.starts_with(';') { ["0", zero].concat() } else { [zero, "0"].concat() };
    chunked(&["{size}\r\n{article}\r\n", &zero, "\r\n\r\n"].concat())
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
        malformed(
            "chunks in bare carriage returns, with an extension",
            chunked("{size};a\r{article}\r0\r\r"),
        ),
        malformed("a chunk size with a plus sign", sized("+{size}")),
        malformed("a chunk size with a fraction", sized("{size}.0")),
        malformed("a chunk size with an underscore", sized("0_{size}")),
        malformed("a chunk size with a comma", sized("{size},")),
        malformed("a chunk size of Arabic digits", sized("٥٧")),
        malformed("a chunk size in quotes", sized("\"{size}\"")),
        malformed("a chunk size that 64 bits would wrap", sized("100000000000000{size}0")),
        malformed("two chunk sizes in a line", sized("{size} {size}")),
        malformed("a zero byte in the chunk size", sized("{size}\0")),
        malformed("a vertical tab behind the chunk size", sized("{size}\x0b")),
        malformed("a carriage return in a chunk extension", sized("{size};a\rb")),
        malformed("a line end more before the first chunk", chunked("\r\n{chunks}")),
        malformed(
            "a line end more behind a chunk",
            chunked("{size}\r\n{article}\r\n\r\n0\r\n\r\n"),
        ),
        malformed("a negative last chunk", last("-")),
        malformed("a last chunk that is no number", chunked("{size}\r\n{article}\r\nend\r\n\r\n")),
        malformed("chunks in bare carriage returns", chunked("{size}\r{article}\r0\r\r")),
    ]
}

fn early() -> Vec<Row> {
    vec![
        cut("no last chunk", chunked("{size}\r\n{article}\r\n")),
        cut("a chunk of 2^64 - 1 bytes", chunked("ffffffffffffffff\r\n{article}")),
        cut("half a chunk", chunked("ffff\r\n{article}")),
        cut("no chunk at all", chunked("")),
        cut("a last chunk without its end", chunked("{size}\r\n{article}\r\n0\r\n")),
    ]
}

fn legal() -> Vec<Row> {
    let long = ["{size};", &"a".repeat(100_000)].concat();
    vec![
        odd("a chunk extension", sized("{size};a=b"), LET_IN, LET_IN),
        odd("a chunk size with zeros before it", sized("0000{size}"), LET_IN, LET_IN),
        odd("a space behind the chunk size", sized("{size} "), LET_IN, LET_IN),
        odd("a chunk extension of 100 KB", sized(&long), &[Status(400)], LET_IN),
        odd("a quoted chunk extension", sized("{size};a=\"b;c\""), LET_IN, LET_IN),
        odd("an extension of the last chunk", last(";a=b"), LET_IN, LET_IN),
        odd("a last chunk of several zeros", last("000"), LET_IN, LET_IN),
    ]
}

/// Whatever comes behind the last chunk adds nothing to the head.
fn trailers() -> Vec<Row> {
    let behind = |head: &str, line: &str| {
        [head, "{chunked}\r\n{size}\r\n{article}\r\n0\r\n", line, "\r\n\r\n"].concat()
    };
    let trailer = |line| behind("{start}", line);
    let no_token = "{line}Host: receiver.test\r\n{service}";
    let wrong = [no_token, "Authorization: Bearer guess\r\n"].concat();
    let untyped = "{line}Host: receiver.test\r\nAuthorization: {token}\r\n";
    let token = "Authorization: {token}";
    let many = "X-Trailer: a\r\n".repeat(1000);
    vec![
        odd("a trailer", trailer("X-Trailer: a"), LET_IN, LET_IN),
        odd("a token in the trailer", trailer("Authorization: Bearer guess"), LET_IN, LET_IN),
        odd("another job id in the trailer", trailer("X-Service-Job-Id: job_2"), LET_IN, LET_IN),
        odd("a length in the trailer", trailer("Content-Length: 5"), LET_IN, LET_IN),
        odd("chunks in the trailer", trailer("Transfer-Encoding: chunked"), LET_IN, LET_IN),
        odd("the token in the trailer alone", behind(no_token, token), STRANGER, STRANGER),
        odd("the token in the trailer, another before", behind(&wrong, token), STRANGER, STRANGER),
        odd(
            "the content type in the trailer alone",
            behind(untyped, "Content-Type: application/json"),
            &[Status(415)],
            &[Status(415)],
        ),
        // actix-web skips trailers without reading them; the body is whole before they come.
        odd("a trailer without colon", trailer("X-Trailer"), &[Status(400)], LET_IN),
        odd("a folded trailer", trailer("X-Trailer: a\r\n b"), &[Status(400)], LET_IN),
        odd("a zero byte in a trailer", trailer("X-Trailer: a\0b"), &[Status(400)], LET_IN),
        odd("1000 trailers", trailer(many.trim_end()), &[Status(400)], LET_IN),
        cut("a trailer that does not end", chunked("{size}\r\n{article}\r\n0\r\nX-Trailer: a")),
    ]
}
