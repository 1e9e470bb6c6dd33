use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    call_log::Entry,
    connection::Silence,
    request::{Request, chunk, delivery},
    site::{Site, Style},
    targets::server::{Framework, Server},
};

/// Draining may take half a second; the rest is for a busy machine.
const SOON: Duration = Duration::from_secs(4);

fn stranger() -> Request {
    delivery().with("Authorization", "Bearer guess")
}

/// All at once, as most of the time is spent waiting for the servers to close.
fn on_each_server(check: impl Fn(&Server, &str, Style) + Sync) {
    thread::scope(|scope| {
        for framework in Framework::ALL {
            for style in framework.styles() {
                let check = &check;
                let path = Site::Default.path(style);
                scope.spawn(move || check(&framework.serve_all(), &path, style));
            }
        }
    });
}

/// The sender sends this and waits, with its end of the connection open.
fn is_refused_and_closed(server: &Server, what: &str, bytes: &[u8], status: u16) {
    let begin = Instant::now();
    let mut connection = server.connect();
    connection.send(bytes);
    let answer = connection.response().expect(what);
    assert!(begin.elapsed() < SOON, "{what}: {:?}", begin.elapsed());
    assert_eq!(answer.status, status, "{what}");
    assert_eq!(answer.header("connection"), Some("close"), "{what}");
    assert!(connection.is_closed(), "{what}");
}

#[test]
fn what_is_refused_is_not_waited_for_and_the_sink_is_notified_of_a_delivery() {
    on_each_server(|server, path, style| {
        let empty = stranger().body("").unfinished().wire(path);
        let head = empty.strip_suffix(&chunk(b"")[..]).expect("it has no chunk");
        let more = chunk(&[b'x'; (64 << 10) + 1]);
        // The line end of the chunk is left out, so that the server has read all that was sent: for
        // bytes that it had not read, the sender would get a reset.
        let more = more.strip_suffix(b"\r\n").expect("a chunk ends so");
        let no_json = delivery().with("Content-Type", "text/plain").unfinished();
        for (what, bytes, status) in [
            ("a stranger's body that never comes", stranger().unsent(20).wire(path), 401),
            ("a stranger's chunks that never end", stranger().unfinished().wire(path), 401),
            ("a stranger's long body", stranger().unsent((64 << 10) + 1).wire(path), 401),
            ("a stranger's chunks beyond 64 KiB", [head, more].concat(), 401),
            ("a body over the limit", delivery().unsent((8 << 20) + 1).wire(path), 413),
            ("a delivery that never ends", no_json.wire(path), 415),
        ] {
            is_refused_and_closed(server, what, &bytes, status);
            let is_for_a_sink = !matches!(style, Style::Extract | Style::Layer);
            let entry = Entry::Refused { job_id: Some("job_1".into()) };
            let expected = if is_for_a_sink && status != 401 { vec![entry] } else { vec![] };
            assert_eq!(server.ledger.take(), expected, "{what}");
            assert!(server.stores_on(&mut server.connect()), "{what}");
        }
    });
}

/// The answer may be lost to the reset. A sender that announces such a body should ask first, with `Expect`.
#[test]
fn a_stranger_that_writes_on_is_cut_off() {
    on_each_server(|server, path, _| {
        let mut connection = server.connect();
        connection.send(stranger().unsent(1 << 40).wire(path));
        for _ in 0..256 {
            connection.send([b' '; 64 << 10]);
        }
        let answer = connection.response().map(|answer| answer.status);
        let expected = [Ok(401), Err(Silence::Closed), Err(Silence::Torn)];
        assert!(expected.contains(&answer), "{answer:?}");
        assert!(server.stores_on(&mut server.connect()));
    });
}
