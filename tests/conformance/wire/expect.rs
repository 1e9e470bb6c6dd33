use std::thread;

use crate::{
    call_log::Entry,
    request::{Request, delivery},
    site::{Site, Style},
    targets::server::{Framework, Server},
};

fn announced() -> Request {
    delivery().with("Expect", "100-continue")
}

/// The statuses for a sender that waits for `100 Continue` before it sends the body; at the end,
/// whether the server has closed.
fn statuses(server: &Server, style: Style, request: &Request) -> (Vec<u16>, bool) {
    let wire = request.wire(&Site::Default.path(style));
    let end = wire.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let (head, body) = wire.split_at(end.expect("the head ends") + 4);
    let mut connection = server.connect();
    connection.send(head);
    let mut statuses = Vec::new();
    loop {
        let answer = connection.response().expect("there is an answer");
        statuses.push(answer.status);
        if answer.status != 100 {
            let closes = answer.header("connection") == Some("close");
            return (statuses, closes && connection.is_closed());
        }
        connection.send(body);
    }
}

#[test]
fn leave_is_given_to_a_delivery() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        let expected = (vec![100, 200], false);
        assert_eq!(statuses(&server, Style::Receive, &announced()), expected);
        let chunked = announced().chunked(16);
        assert_eq!(statuses(&server, Style::Receive, &chunked), expected);
        assert_eq!(server.ledger.take().len(), 2);
    }
}

/// hyper writes `100 Continue` when a handler first reads the body, and for a stranger none does.
/// actix-web writes `100 Continue` before any handler runs, so the stranger sends its body all the same. The body
/// is not read.
#[test]
fn a_stranger_is_refused_and_its_body_not_waited_for() {
    let stranger = announced().with("Authorization", "Bearer guess");
    let too_long = announced().unsent(9 << 20);
    thread::scope(|scope| {
        for framework in Framework::ALL {
            for style in framework.styles() {
                for (request, status) in [(&stranger, 401), (&too_long, 413)] {
                    scope.spawn(move || {
                        let server = framework.serve_all();
                        let expected = match framework {
                            Framework::Axum | Framework::Tower => vec![status],
                            Framework::ActixWeb => vec![100, status],
                        };
                        assert_eq!(statuses(&server, style, request), (expected, true));
                        assert!(server.ledger.take().iter().all(Entry::is_refusal));
                    });
                }
            }
        }
    });
}
