use super::parser;
use crate::{
    connection::{CLIENT_TIMEOUT, Silence},
    request::delivery,
    site::Site,
    targets::server::{Framework, Server},
};

/// What can be wrong with the second of three requests: situations of the HTTP parsers.
const ATTACKS: [&str; 12] = [
    "two lengths",
    "a negative length",
    "a length that 64 bits would wrap",
    "an unknown transfer encoding",
    "chunked, and identity around it",
    "chunked in two headers",
    "an unknown coding and a length",
    "a chunk size of letters",
    "a chunk shorter than its size",
    "a folded header",
    "a space before the colon of the length",
    "a zero byte in a value",
];

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
    let mut attacks = parser::rows();
    attacks.retain(|row| ATTACKS.contains(&row.situation));
    assert_eq!(attacks.len(), ATTACKS.len());
    for framework in Framework::ALL {
        let server = framework.serve_all();
        for style in framework.styles() {
            let path = Site::Default.path(style);
            let good = delivery().wire(&path);
            for attack in &attacks {
                let all = [&good[..], &attack.request(&path), &good].concat();
                let statuses = statuses(&server, &all);
                let case = format!("{framework:?}, {style:?}: {}", attack.situation);
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
