use crate::{
    call_log::Entry,
    connection::Connection,
    request::{Request, delivery},
    site::{Site, Style},
    targets::server::Framework,
};

const PATH: (Site, Style) = (Site::Default, Style::Receive);

fn wire(request: &Request) -> Vec<u8> {
    let (site, style) = PATH;
    request.wire(&site.path(style))
}

fn status(connection: &mut Connection) -> u16 {
    connection.response().expect("there is an answer").status
}

#[test]
fn pipelined_deliveries_are_answered_in_their_order() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        let mut connection = server.connect();
        let good = wire(&delivery());
        let chunked = wire(&delivery().chunked(8));
        let malformed = wire(&delivery().body("{"));
        let stranger = wire(&delivery().without("Authorization"));
        connection.send([&good, &stranger, &chunked, &malformed, &good[..]].concat());
        let statuses: Vec<_> = (0..5).map(|_| status(&mut connection)).collect();
        assert_eq!(statuses, [200, 401, 200, 400, 200], "{framework:?}");
        let is_accepted = |entry: &Entry| matches!(entry, Entry::Accepted(_));
        let accepted: Vec<_> = server.ledger.take().iter().map(is_accepted).collect();
        assert_eq!(accepted, [true, true, false, true], "{framework:?}");
    }
}

#[test]
fn a_delivery_that_comes_byte_by_byte_is_let_in() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        let mut connection = server.connect();
        for request in [delivery(), delivery().chunked(5)] {
            for byte in wire(&request) {
                connection.send([byte]);
            }
            assert_eq!(status(&mut connection), 200, "{framework:?}");
        }
        assert_eq!(server.ledger.take().len(), 2, "{framework:?}");
    }
}

#[test]
fn a_sender_that_asks_for_the_end_of_the_connection_gets_it() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        for request in [delivery(), delivery().without("Authorization")] {
            let mut connection = server.connect();
            connection.send(wire(&request.with("Connection", "close")));
            let answer = connection.response().expect("there is an answer");
            assert_eq!(answer.header("connection"), Some("close"), "{framework:?}");
            assert!(connection.is_closed(), "{framework:?}");
        }
    }
}
