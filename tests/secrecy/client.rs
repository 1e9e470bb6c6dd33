use std::net::SocketAddr;

use crate::{
    connection::{Connection, Response, Silence},
    situation::Situation,
};

/// Sends the situation on a connection of its own, and returns what came back.
pub(crate) fn send(
    address: SocketAddr,
    path: &str,
    situation: &Situation,
) -> Result<Response, Silence> {
    let mut connection = Connection::open(address);
    connection.send(wire(path, situation));
    if situation.missing > 0 {
        connection.finish_sending();
    }
    connection.answer_to(situation.method)
}

fn wire(path: &str, situation: &Situation) -> Vec<u8> {
    let Situation { method, post, missing } = situation;
    let mut wire = format!("{method} {path} HTTP/1.1\r\nHost: receiver.test\r\n").into_bytes();
    for (name, value) in post.headers() {
        wire.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    wire.extend(b"\r\n");
    wire.extend(&post.bytes()[..post.bytes().len() - missing]);
    wire
}
