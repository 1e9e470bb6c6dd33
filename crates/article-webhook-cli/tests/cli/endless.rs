//! A receiver whose answer has no end.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::tool::{seen, tool};

#[test]
fn the_beginning_of_an_answer_is_shown_and_no_more_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let written = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 500 Internal Server Error\r\n\r\n").unwrap();
        let (part, mut written) = ([b'x'; 1 << 16], 0_usize);
        while stream.write_all(&part).is_ok() {
            written += part.len();
        }
        written
    });
    let start = Instant::now();
    let mut send = tool(["send", &url, "--json"]);
    let sent = send.env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38").output().unwrap();
    let (exit, out, error) = seen(&sent);
    assert_eq!((exit, &*error), (Some(1), ""));
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&shown["status"], &shown["body"]), (&500.into(), &"x".repeat(2000).into()));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert!(written.join().unwrap() < 64 << 20);
}
