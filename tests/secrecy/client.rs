use std::net::SocketAddr;

use article_webhook_tests::connection::{Connection, Response, Silence, wire};

use crate::situation::Situation;

/// Sends the situation on a connection of its own, and returns what came back.
pub(crate) fn send(
    address: SocketAddr,
    path: &str,
    situation: &Situation,
) -> Result<Response, Silence> {
    let Situation { method, post, missing } = situation;
    let mut connection = Connection::open(address);
    let wire = wire(&format!("{method} {path}"), post);
    connection.send(&wire[..wire.len() - missing]);
    if *missing > 0 {
        connection.finish_sending();
    }
    connection.answer_to(method)
}
