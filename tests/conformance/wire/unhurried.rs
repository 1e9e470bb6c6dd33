use crate::{
    call_log::Entry,
    request::{chunk, delivery},
    site::{SMALL, Site},
    targets::server::Framework,
};

/// How many senders wait at once.
const SENDERS: usize = 60;

#[test]
fn senders_that_stop_at_any_byte_keep_no_other_out() {
    for framework in Framework::ALL {
        for style in framework.styles() {
            let server = framework.serve_all();
            let wire = delivery().wire(&Site::Default.path(style));
            let stopped = |sender| {
                let mut connection = server.connect();
                connection.send(&wire[..wire.len() * sender / SENDERS]);
                connection
            };
            let mut connections: Vec<_> = (0..SENDERS).map(stopped).collect();
            assert!(server.stores_on(&mut server.connect()), "{framework:?}, {style:?}");

            // One of them was slow, and meant it.
            let mut slow = connections.swap_remove(SENDERS / 2);
            slow.send(&wire[wire.len() / 2..]);
            let status = slow.response().map(|answer| answer.status);
            assert!(status.is_ok_and(|status| status < 300), "{framework:?}, {style:?}");
            let entries = server.ledger.take();
            assert_eq!(entries.len(), 1, "{framework:?}, {style:?}: {entries:?}");

            drop(connections);
            let mut stranger = server.connect();
            stranger.send(delivery().without("Authorization").wire(&Site::Default.path(style)));
            assert_eq!(stranger.response().map(|answer| answer.status), Ok(401));
            let entries = server.ledger.take();
            assert!(entries.iter().all(Entry::is_refusal), "{framework:?}, {style:?}");
        }
    }
}

/// Each chunk is a byte, and comes alone.
#[test]
fn a_body_that_trickles_in_is_refused_as_soon_as_it_is_over_the_limit() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        for style in framework.styles() {
            let path = Site::Small.path(style);
            let wire = delivery().body("").unfinished().wire(&path);
            let mut connection = server.connect();
            let head = wire.strip_suffix(&chunk(b"")[..]).expect("it has no chunk");
            connection.send(head);
            for _ in 0..=SMALL {
                connection.send(chunk(b" "));
            }
            let status = connection.response().map(|answer| answer.status);
            assert_eq!(status, Ok(413), "{framework:?}, {style:?}");
        }
    }
}
