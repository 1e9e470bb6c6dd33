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
fn is_refused_and_closed(server: &Server, bytes: &[u8], status: u16) {
    let begin = Instant::now();
    let mut connection = server.connect();
    connection.send(bytes);
    let answer = connection.response().expect("there is an answer");
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert_eq!(answer.status, status);
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(connection.is_closed());
}

#[test]
fn a_strangers_body_that_never_comes_is_not_waited_for() {
    on_each_server(|server, path, _| {
        let head = stranger().unsent(20).wire(path);
        is_refused_and_closed(server, &head, 401);
        assert_eq!(server.ledger.take(), []);
        assert!(server.stores_on(&mut server.connect()));
    });
}

#[test]
fn a_strangers_chunks_that_never_end_are_not_waited_for() {
    on_each_server(|server, path, _| {
        let endless = stranger().unfinished().wire(path);
        is_refused_and_closed(server, &endless, 401);
        assert_eq!(server.ledger.take(), []);
        assert!(server.stores_on(&mut server.connect()));
    });
}

#[test]
fn a_refused_delivery_that_never_ends_is_not_waited_for_and_the_sink_is_notified() {
    on_each_server(|server, path, style| {
        let endless = delivery().with("Content-Type", "text/plain").unfinished();
        is_refused_and_closed(server, &endless.wire(path), 415);
        let job_id = Some("job_1".into());
        let expected = match style {
            Style::Receive | Style::Require | Style::LayerRequire => {
                vec![Entry::Refused { job_id }]
            }
            Style::Extract | Style::Layer => vec![],
        };
        assert_eq!(server.ledger.take(), expected);
    });
}

#[test]
fn a_strangers_long_body_is_answered_before_a_byte_of_it_came() {
    on_each_server(|server, path, _| {
        let head = stranger().unsent((64 << 10) + 1).wire(path);
        is_refused_and_closed(server, &head, 401);
    });
}

#[test]
fn a_body_over_the_limit_is_answered_before_a_byte_of_it_came() {
    on_each_server(|server, path, _| {
        let head = delivery().unsent((8 << 20) + 1).wire(path);
        is_refused_and_closed(server, &head, 413);
    });
}

#[test]
fn a_strangers_chunks_beyond_64_kib_are_not_read() {
    on_each_server(|server, path, _| {
        let empty = stranger().body("").unfinished().wire(path);
        let head = empty.strip_suffix(&chunk(b"")[..]).expect("it has no chunk");
        let more = chunk(&[b'x'; (64 << 10) + 1]);
        // The line end of the chunk is left out, so that the server has read all that was sent: for
        // bytes that it had not read, the sender would get a reset.
        let more = more.strip_suffix(b"\r\n").expect("a chunk ends so");
        is_refused_and_closed(server, &[head, more].concat(), 401);
    });
}

#[test]
fn a_stranger_that_goes_away_in_the_middle_of_its_body_does_no_harm() {
    on_each_server(|server, path, _| {
        for request in [stranger().unsent(20), stranger().unfinished(), delivery().short(20)] {
            let mut connection = server.connect();
            connection.send(request.wire(path));
            drop(connection);
        }
        let mut next = server.connect();
        next.send(stranger().wire(path));
        assert_eq!(next.response().map(|answer| answer.status), Ok(401));
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
