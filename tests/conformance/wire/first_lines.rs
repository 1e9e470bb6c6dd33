use super::parser::{Fate, Fate::Status, LET_IN, Row, malformed, odd};

const BODY: &str = "{sized}\r\n{article}";

const ELSEWHERE: &[Fate] = &[Status(404)];

pub(super) fn rows() -> Vec<Row> {
    [methods(), versions(), targets(), other_protocols()].concat()
}

fn line(line: &str) -> String {
    [line, "\r\nHost: receiver.test\r\n{delivery}", BODY].concat()
}

fn methods() -> Vec<Row> {
    vec![
        malformed("a method with brackets", line("PO(ST {path} HTTP/1.1")),
        malformed("a method with a zero byte", line("PO\0ST {path} HTTP/1.1")),
        malformed("a method that is not ASCII", line("PÖST {path} HTTP/1.1")),
        malformed("a method with a colon", line("POST: {path} HTTP/1.1")),
        malformed("a byte order mark before the method", line("\u{feff}POST {path} HTTP/1.1")),
        malformed("a zero byte before the method", line("\0POST {path} HTTP/1.1")),
        malformed("two spaces behind the method", line("POST  {path} HTTP/1.1")),
        malformed("a tab behind the method", line("POST\t{path} HTTP/1.1")),
        malformed("a vertical tab behind the method", line("POST\x0b{path} HTTP/1.1")),
        malformed("a space before the method", line(" POST {path} HTTP/1.1")),
        malformed("no method", line("{path} HTTP/1.1")),
        malformed(
            "a carriage return for the end of the first line",
            "POST {path} HTTP/1.1\rHost: receiver.test\r\n{delivery}{sized}\r\n{article}",
        ),
    ]
}

fn versions() -> Vec<Row> {
    vec![
        malformed("no version", line("POST {path}")),
        malformed("a space for the version", line("POST {path} ")),
        malformed("a version in lower case", line("POST {path} http/1.1")),
        malformed("another name before the version", line("POST {path} HTTPS/1.1")),
        malformed("HTTP/1", line("POST {path} HTTP/1")),
        malformed("HTTP/1.2", line("POST {path} HTTP/1.2")),
        malformed("HTTP/1.10", line("POST {path} HTTP/1.10")),
        malformed("HTTP/01.1", line("POST {path} HTTP/01.1")),
        malformed("HTTP/0.9", line("POST {path} HTTP/0.9")),
        malformed("HTTP/2.0", line("POST {path} HTTP/2.0")),
        malformed("HTTP/3", line("POST {path} HTTP/3")),
        malformed("a comma in the version", line("POST {path} HTTP/1,1")),
        malformed("a word behind the version", line("POST {path} HTTP/1.1 x")),
        malformed("a space behind the version", line("POST {path} HTTP/1.1 ")),
        malformed("two spaces before the version", line("POST {path}  HTTP/1.1")),
        malformed("a tab before the version", line("POST {path}\tHTTP/1.1")),
        malformed("a line of HTTP/0.9", "GET {path}\r\n"),
    ]
}

/// Whatever the path, never a redirect.
fn targets() -> Vec<Row> {
    let to = |target: &str| line(&["POST ", target, " HTTP/1.1"].concat());
    let elsewhere = |situation, target| odd(situation, to(target), ELSEWHERE, ELSEWHERE);
    vec![
        elsewhere("a slash behind the path", "{path}/"),
        elsewhere("two slashes before the path", "/{path}"),
        elsewhere("a path with dots", "/x/..{path}"),
        elsewhere("a path with dots, percent-encoded", "/x/%2e%2e{path}"),
        elsewhere("a path with a dot at its end", "{path}/."),
        elsewhere("a path with a parameter", "{path};a=b"),
        elsewhere("a path with a zero byte, percent-encoded", "{path}%00"),
        elsewhere("a path with a line end, percent-encoded", "{path}%0d%0a"),
        elsewhere("a path within the path", "/x{path}"),
        elsewhere("an asterisk for the path", "*"),
        odd("a query behind the path", to("{path}?token=guess"), LET_IN, LET_IN),
        odd("a query of another path", to("{path}?/../x"), LET_IN, LET_IN),
        odd("a whole URL for the path", to("http://receiver.test{path}"), LET_IN, LET_IN),
        malformed("a space in the path", to("{path} x")),
        malformed("a zero byte in the path", to("{path}\0")),
        malformed("a carriage return in the path", to("{path}\rx")),
        malformed("a delete character in the path", to("{path}\x7f")),
        malformed("brackets in the path", to("<{path}>")),
        malformed("a path without its slash", to("x{path}")),
        malformed("nothing for the path", to("")),
    ]
}

/// What other clients say first.
fn other_protocols() -> Vec<Row> {
    vec![
        malformed("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        malformed("the greeting of TLS", "\x16\x03\x01\x02\0\x01\0\x01\x03\x03\r\n\r\n"),
        malformed("the greeting of SSH", "SSH-2.0-OpenSSH_9.9\r\n"),
        malformed("the greeting of SMTP", "EHLO receiver.test\r\n"),
        malformed("a command of Redis", "*1\r\n$4\r\nPING\r\n"),
        malformed("a request of SOCKS", "\x05\x01\0\x05\x01\0\x01\x7f\0\0\x01\0\x50"),
        malformed("an answer for a request", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        malformed(
            "a line of a proxy before the request",
            ["PROXY TCP4 192.0.2.1 192.0.2.2 4000 80\r\n", &line("POST {path} HTTP/1.1")].concat(),
        ),
        malformed("a binary head of a proxy", "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"),
        malformed("JSON without a request", "{article}\r\n\r\n"),
        odd(
            "OPTIONS of the whole server",
            "OPTIONS * HTTP/1.1\r\nHost: receiver.test\r\n\r\n",
            ELSEWHERE,
            ELSEWHERE,
        ),
        odd(
            "a tunnel through the receiver",
            "CONNECT receiver.test:443 HTTP/1.1\r\nHost: receiver.test\r\n\r\n",
            ELSEWHERE,
            ELSEWHERE,
        ),
    ]
}
