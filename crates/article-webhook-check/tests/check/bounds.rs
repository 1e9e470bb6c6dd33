//! Peers that are not receivers: the check ends in time, in bounded memory, and reports what it received.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use article_webhook_check::{CheckFinding, CheckReport, Verdict};

use crate::check;

/// Serves each connection in the same way.
fn serve(connection: fn(TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("the loopback has a free port");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || connection(stream));
        }
    });
    port
}

fn head(mut stream: &TcpStream) {
    let mut some = [0; 8192];
    let _ = stream.read(&mut some);
}

/// Writes the same bytes until the peer closes, or for longer than any check takes.
fn endless(mut stream: &TcpStream, start: &[u8], bytes: &[u8]) {
    head(stream);
    let _ = stream.write_all(start);
    let end = Instant::now() + Duration::from_secs(90);
    while Instant::now() < end && stream.write_all(bytes).is_ok() {}
}

async fn report(connection: fn(TcpStream)) -> CheckReport {
    let start = Instant::now();
    let report = check(serve(connection)).await;
    assert!(start.elapsed() < Duration::from_secs(60), "{report}");
    assert!(!report.is_conformant());
    report
}

fn delivery(report: &CheckReport) -> &CheckFinding {
    let delivery = &report.findings[0];
    assert_eq!((delivery.name, delivery.verdict), ("a delivery", Verdict::Fail));
    delivery
}

/// A peer, what it does with each connection, and what the check says of its first delivery.
type Peer = (&'static str, fn(TcpStream), &'static str);

const PEERS: [Peer; 8] = [
    (
        "bytes that are no HTTP",
        |mut stream| {
            head(&stream);
            let _ = stream.write_all(b"\0\xff not \r\n\r\n HTTP \x1b[31m\r\n\r\n");
        },
        "no HTTP response: the status line or a header is not valid",
    ),
    (
        "a head without end",
        |stream| endless(&stream, b"HTTP/1.1 200 OK\r\nx: ", &[b'x'; 65536]),
        "no HTTP response: a head without end",
    ),
    (
        "a body without end",
        |stream| endless(&stream, b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 65536]),
        TOO_LONG,
    ),
    (
        "the largest length",
        |stream| {
            let start = b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n";
            endless(&stream, start, &[b'x'; 65536]);
        },
        TOO_LONG,
    ),
    (
        "the largest chunk",
        |stream| {
            let start =
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n";
            endless(&stream, start, &[b'x'; 65536]);
        },
        TOO_LONG,
    ),
    (
        "interim responses without end",
        |stream| endless(&stream, b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        "no HTTP response: interim responses without end",
    ),
    ("no response", |stream| head(&stream), "connection closed without a response"),
    (
        "a TLS alert",
        |mut stream| {
            head(&stream);
            let _ = stream.write_all(&[21, 3, 3, 0, 2, 2, 10]);
        },
        "a TLS alert instead of HTTP",
    ),
];

const TOO_LONG: &str = "no HTTP response: a body over the limit of 256 KiB";

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_is_no_receiver_fails_in_time_and_says_what_came() {
    let reports = PEERS.map(|(name, peer, received)| (name, tokio::spawn(report(peer)), received));
    for (name, report, received) in reports {
        let report = report.await.expect(name);
        assert_eq!(delivery(&report).received, received, "{name}");
        let is_control = |letter: char| letter != '\n' && letter.is_control();
        assert!(!report.to_string().contains(is_control), "{name}: {report:?}");
        let stopped = report.stopped.unwrap_or_default();
        let names_tls = report.findings.len() == 1 && stopped.contains("TLS");
        assert!(names_tls || !received.contains("TLS"), "{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_fails_within_a_minute() {
    let report = report(|stream| {
        head(&stream);
        thread::sleep(Duration::from_secs(90));
    })
    .await;
    assert_eq!(delivery(&report).received, "no response in time");
    let prompt = report.findings.iter().find(|finding| finding.name == "answers within 5 s");
    assert_eq!(prompt.unwrap().verdict, Verdict::Fail);
}
