use crate::{
    connection::{CLIENT_TIMEOUT, Silence},
    request::{ARTICLE, delivery},
    site::Site,
    targets::server::{Framework, Server},
};

/// What can be wrong with the framing of the second of three requests.
fn attacks() -> [(&'static str, String); 12] {
    let length = ARTICLE.len();
    let size = format!("{length:x}");
    let sized = format!("Content-Length: {length}");
    let chunks = format!("{size}\r\n{ARTICLE}\r\n0\r\n\r\n");
    let framed = |framing: &str, body: &str| [framing, "\r\n\r\n", body].concat();
    [
        ("two lengths", framed(&format!("{sized}\r\nContent-Length: 5"), ARTICLE)),
        ("a negative length", framed(&format!("Content-Length: -{length}"), ARTICLE)),
        (
            "a length that 64 bits would wrap",
            framed("Content-Length: 18446744073709551703", ARTICLE),
        ),
        ("an unknown coding", framed("Transfer-Encoding: xchunked", &chunks)),
        (
            "chunked, and identity around it",
            framed("Transfer-Encoding: chunked, identity", &chunks),
        ),
        (
            "chunked in two headers",
            framed("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", &chunks),
        ),
        (
            "an unknown coding and a length",
            framed(&format!("{sized}\r\nTransfer-Encoding: cow"), ARTICLE),
        ),
        (
            "a chunk size of letters",
            framed("Transfer-Encoding: chunked", &format!("xyz\r\n{ARTICLE}\r\n0\r\n\r\n")),
        ),
        (
            "a chunk shorter than its size",
            framed("Transfer-Encoding: chunked", &format!("70\r\n{ARTICLE}\r\n0\r\n\r\n")),
        ),
        ("a folded header", framed(&format!("X-Folded: a\r\n b\r\n{sized}"), ARTICLE)),
        ("a space before a colon", framed(&format!("Content-Length : {length}"), ARTICLE)),
        ("a zero byte in a value", framed(&format!("X-Zero: a\0b\r\n{sized}"), ARTICLE)),
    ]
}

/// The statuses of the answers until the server closes.
fn statuses(server: &Server, bytes: &[u8]) -> Vec<u16> {
    let mut connection = server.connect();
    connection.send(bytes);
    let mut statuses = Vec::new();
    loop {
        match connection.response() {
            Ok(answer) => statuses.push(answer.status),
            Err(Silence::Late) => panic!("the connection stays open behind {statuses:?}"),
            Err(Silence::Closed | Silence::Torn) => return statuses,
        }
    }
}

#[test]
fn a_good_delivery_is_stored_the_attack_behind_it_refused_and_the_third_never_seen() {
    for framework in Framework::ALL {
        let server = framework.serve_all();
        for style in framework.styles() {
            let path = Site::Default.path(style);
            let good = delivery().wire(&path);
            let text = String::from_utf8(good.clone()).expect("a delivery is text");
            let (head, _) = text.split_once("Content-Length").expect("its length comes last");
            for (attack, framing) in attacks() {
                let all = [&good, head.as_bytes(), framing.as_bytes(), &good[..]].concat();
                let statuses = statuses(&server, &all);
                let case = format!("{framework:?}, {style:?}: {attack}");
                let is_answered = matches!(statuses[..], [200 | 204] | [200 | 204, 400]);
                // actix-web drops an answer that a sink still works on when the request behind it
                // has broken chunks. The delivery is stored all the same, and comes again.
                let is_dropped = framework == Framework::ActixWeb && statuses.is_empty();
                assert!(is_answered || is_dropped, "{case}: {statuses:?}");
                let mut entries = server.ledger.take_when(1, CLIENT_TIMEOUT);
                entries.retain(|entry| !entry.is_refusal());
                assert_eq!(entries.len(), 1, "{case}: {entries:?}");
                assert!(server.stores_on(&mut server.connect()), "{case}");
            }
        }
    }
}
