use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use rustix::net::sockopt::set_socket_linger;

use crate::{
    answers::STORED,
    call_log::{Accepted, Entry},
    connection::{CLIENT_TIMEOUT, Connection},
    request::{ARTICLE, delivery},
    site::{Site, Style},
    targets::server::{Framework, Server},
};

/// How a sender leaves.
#[derive(Debug, Clone, Copy)]
enum Farewell {
    /// It has no more to send, and waits for an answer.
    HalfClose,
    Close,
    /// Whatever is on its way is thrown away.
    Reset,
}

const WAYS: [Farewell; 3] = [Farewell::HalfClose, Farewell::Close, Farewell::Reset];

impl Farewell {
    fn after(self, bytes: &[u8], server: &Server) {
        let mut stream = TcpStream::connect(server.address).expect("the server listens");
        stream.write_all(bytes).expect("the server has not refused what it has not seen");
        match self {
            Self::HalfClose => {
                stream.shutdown(Shutdown::Write).expect("the connection is open");
                stream.set_read_timeout(Some(CLIENT_TIMEOUT)).expect("a second is a time-out");
                // It ends, with or without an answer.
                let _ = stream.read_to_end(&mut Vec::new());
            }
            Self::Close => {}
            Self::Reset => {
                let at_once = Some(Duration::ZERO);
                set_socket_linger(&stream, at_once).expect("the socket takes its options");
            }
        }
    }
}

/// Servers have one thread here: once it has answered a stranger, it has seen what came before.
/// A sink runs in a task of its own, and may be seen at the next call.
fn entries(server: &Server, stranger: &mut Connection) -> Vec<Entry> {
    let path = Site::Default.path(Style::Receive);
    stranger.send(delivery().without("Authorization").wire(&path));
    assert_eq!(stranger.response().map(|answer| answer.status), Ok(401));
    server.ledger.take()
}

/// Whether a good delivery is, on a connection of its own.
fn is_stored(server: &Server) -> bool {
    let mut connection = server.connect();
    connection.send(delivery().wire(&Site::Default.path(Style::Receive)));
    connection.response().is_ok_and(|answer| answer.body == STORED.body)
}

/// The cuts of a delivery behind which the application was asked to work, in each framing.
fn reaching(server: &Server, style: Style) -> Vec<String> {
    let mut stranger = server.connect();
    let mut reaching = Vec::new();
    for request in [delivery(), delivery().chunked(30)] {
        let wire = request.wire(&Site::Default.path(style));
        for (cut, farewell) in (0..wire.len()).zip(WAYS.into_iter().cycle()) {
            farewell.after(&wire[..cut], server);
            let mut entries = entries(server, &mut stranger);
            entries.retain(|entry| !entry.is_refusal());
            if !entries.is_empty() {
                let missing = String::from_utf8_lossy(&wire[cut..]);
                reaching.push(format!("{farewell:?} before {missing:?}: {entries:?}"));
            }
        }
    }
    reaching
}

#[test]
fn a_delivery_that_is_cut_at_any_byte_never_reaches_the_application() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        for style in framework.styles() {
            let reaching = reaching(&server, style);
            assert!(reaching.is_empty(), "{framework:?}, {style:?}: {}", reaching.join("\n"));
        }
        assert!(is_stored(&server), "{framework:?}");
    }
}

/// Whether the answer arrived is unknown, so both one delivery and none are right.
#[test]
fn a_whole_delivery_whose_sender_leaves_is_stored_whole_and_at_most_once() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        let mut stranger = server.connect();
        let mut stored = BTreeSet::new();
        for (number, farewell) in (0..30).zip(WAYS.into_iter().cycle()) {
            let job_id = format!("job_{number}");
            let article = ARTICLE.replace("job_1", &job_id);
            let whole = delivery().with("X-Service-Job-Id", &job_id).body(article);
            farewell.after(&whole.wire(&Site::Default.path(Style::Receive)), &server);
            for entry in entries(&server, &mut stranger) {
                let Entry::Accepted(Accepted { job_id, body, .. }) = entry else {
                    // A reset may have thrown the end away.
                    assert!(entry.is_refusal(), "{farewell:?}: {entry:?}");
                    continue;
                };
                assert_eq!(body, ARTICLE.replace("job_1", &job_id), "{framework:?}");
                assert!(stored.insert(job_id), "{framework:?}: twice, of {stored:?}");
            }
        }
        assert!(is_stored(&server), "{framework:?}");
    }
}
