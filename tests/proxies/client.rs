//! A plain client: it writes its whole request, then reads.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use crate::situation::SendingEnds;

/// The status of the answer. `None` if the connection ends without one.
pub(crate) fn status(proxy: SocketAddr, request: &[u8], end: SendingEnds) -> Option<u16> {
    let mut stream = TcpStream::connect(proxy).expect("the proxy listens");
    let timeout = Some(Duration::from_secs(20));
    stream.set_read_timeout(timeout).expect("the socket takes its options");
    stream.set_write_timeout(timeout).expect("the socket takes its options");
    // The proxy may answer and close before it has read all.
    _ = stream.write_all(request);
    if end != SendingEnds::AfterTheAnswer {
        _ = stream.shutdown(Shutdown::Write);
    }
    let mut answer = Vec::new();
    // What was read before a reset is an answer too.
    _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let mut heads = answer.split("\r\n\r\n");
    heads.find_map(|head| {
        let status = head.strip_prefix("HTTP/1.1 ").or_else(|| head.strip_prefix("HTTP/1.0 "))?;
        let status = status.get(..3)?.parse().ok()?;
        (status >= 200).then_some(status)
    })
}
