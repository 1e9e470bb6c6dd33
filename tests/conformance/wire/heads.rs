use super::{
    codings, first_lines,
    parser::{
        Fate,
        Fate::{Closed, Status},
        LET_IN, Row, malformed, odd,
    },
};

const BODY: &str = "{sized}\r\n{article}";

pub(super) fn rows() -> Vec<Row> {
    [lines(), hosts(), sizes(), versions(), first_lines::rows(), codings::rows()].concat()
}

/// A delivery with one more line in its head.
fn with_line(line: &str) -> String {
    ["{start}", line, "\r\n", BODY].concat()
}

fn lines() -> Vec<Row> {
    let folded = "{line}Host: receiver.test\r\nAuthorization: Bearer\r\n conformance-5f2b9c0e7a1d\r\n{service}";
    let second = "{line}Host: receiver.test\r\nAuthorization:\r\n\t{token}\r\n{service}";
    let spaced = "{line}Host: receiver.test\r\nAuthorization : {token}\r\n{service}";
    let zero = "{line}Host: receiver.test\r\nAuthorization: {token}\0\r\n{service}";
    let line_feeds = ["{start}", BODY].concat();
    let first = "{line} X-First: a\r\nHost: receiver.test\r\n{delivery}";
    vec![
        malformed("a folded header", with_line("X-Folded: a\r\n b")),
        malformed("a folded token", [folded, BODY].concat()),
        malformed("white space before the first header", [first, BODY].concat()),
        malformed("a space before a colon", with_line("X-Space : a")),
        malformed(
            "a space before the colon of the length",
            "{start}Content-Length : {length}\r\n\r\n{article}",
        ),
        malformed("a tab before a colon", with_line("X-Tab\t: a")),
        malformed("a space in a name", with_line("X Space: a")),
        malformed("a name that is not ASCII", with_line("X-Ż: a")),
        malformed("a zero byte in a name", with_line("X-\0Zero: a")),
        malformed("a quoted name", with_line("\"X-Quoted\": a")),
        malformed("a colon alone", with_line(":")),
        malformed("an escape character in a value", with_line("X-Escape: \x1b[2J")),
        malformed("a backspace in a value", with_line("X-Backspace: a\x08b")),
        malformed("a folded line of white space alone", with_line("X-Folded: a\r\n \t")),
        malformed("a folded token that begins on the second line", [second, BODY].concat()),
        malformed("a space before the colon of the token", [spaced, BODY].concat()),
        malformed("a zero byte behind the token", [zero, BODY].concat()),
        malformed("a line that ends in two carriage returns", with_line("X-Twice: a\r")),
        malformed("a carriage return before the line of the length", with_line("\rX-Return: a")),
        malformed("a header without colon", with_line("X-No-Colon")),
        malformed("a header without name", with_line(": a")),
        malformed("a name with brackets", with_line("X-(Name): a")),
        malformed("a zero byte in a value", with_line("X-Zero: a\0b")),
        malformed("a delete character in a value", with_line("X-Delete: a\x7fb")),
        malformed("a carriage return in a value", with_line("X-Return: a\rb")),
        malformed("lines that end the wrong way round", with_line("X-Wrong: a\n\rX-Way: b")),
        // RFC 9112, section 2.2: a recipient may take a line feed for the end of a line.
        odd(
            "a line feed in the place of a line's end",
            with_line("X-Feed: a\nX-Next: b"),
            LET_IN,
            LET_IN,
        ),
        odd("empty lines before the request", ["\r\n\r\n", &line_feeds].concat(), LET_IN, LET_IN),
        odd(
            "a header that asks for another protocol",
            with_line("Connection: Upgrade\r\nUpgrade: h2c"),
            LET_IN,
            LET_IN,
        ),
        // actix-web ignores the length, and reads on behind it.
        malformed(
            "a request for WebSocket",
            with_line("Connection: Upgrade\r\nUpgrade: websocket"),
        ),
        odd(
            "a request for WebSocket, in chunks",
            "{start}Connection: Upgrade\r\nUpgrade: websocket\r\n{chunked}\r\n{chunks}",
            LET_IN,
            LET_IN,
        ),
    ]
}

fn hosts() -> Vec<Row> {
    const REFUSED: &[Fate] = &[Status(400)];
    let no_host = ["{line}{delivery}", BODY].concat();
    vec![
        // RFC 9112, section 3.2 wants both refused; hyper leaves that to the application.
        odd("no Host", no_host, LET_IN, REFUSED).but_our_server_says(REFUSED),
        odd("two Hosts", with_line("Host: other.test"), LET_IN, REFUSED)
            .but_our_server_says(REFUSED),
    ]
}

/// Either server reads a large head to some extent, ours 16 KiB; what is too large for it, it refuses.
fn sizes() -> Vec<Row> {
    const TOO_LARGE: &[Fate] = &[Status(431), Closed];
    let many = |count| with_line("X-Many: a\r\n".repeat(count).trim_end());
    let long = |bytes| with_line(&["X-Long: ", &"a".repeat(bytes)].concat());
    let nameless = with_line("a:\r\n".repeat(10_000).trim_end());
    let endless = ["{start}X-Long: ", &"a".repeat(1_000_000)].concat();
    let query = [
        "POST {path}?",
        &"a".repeat(70_000),
        " HTTP/1.1\r\nHost: receiver.test\r\n{delivery}",
        BODY,
    ];
    vec![
        odd("80 more headers", many(80), LET_IN, LET_IN),
        odd("1000 more headers", many(1000), TOO_LARGE, TOO_LARGE),
        odd("10000 more headers", many(10_000), TOO_LARGE, TOO_LARGE),
        odd("10000 empty headers", nameless, TOO_LARGE, TOO_LARGE),
        odd(
            "a name of 60 KB",
            with_line(&["X-", &"a".repeat(60_000), ": a"].concat()),
            LET_IN,
            LET_IN,
        )
        .but_our_server_says(TOO_LARGE),
        odd("a header of 60 KB", long(60_000), LET_IN, LET_IN).but_our_server_says(TOO_LARGE),
        odd("a header of 1 MB", long(1_000_000), TOO_LARGE, TOO_LARGE),
        odd("a head of 1 MB that does not end", endless, TOO_LARGE, TOO_LARGE),
        odd("a query of 70 KB", query.concat(), &[Status(414), Closed], &[Status(400), Closed])
            .but_our_server_says(TOO_LARGE),
    ]
}

fn versions() -> Vec<Row> {
    let old = |headers: &str| ["POST {path} HTTP/1.0\r\n{delivery}", headers].concat();
    let kept = old(&["Connection: keep-alive\r\n", BODY].concat());
    vec![
        odd("HTTP/1.0", old(BODY), LET_IN, LET_IN),
        odd("HTTP/1.0 that keeps the connection", kept, LET_IN, LET_IN),
        malformed("HTTP/1.0 and chunks", old("{chunked}\r\n{chunks}")),
    ]
}
