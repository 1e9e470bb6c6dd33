use std::io;

use bytes::Bytes;
use http::{Request, header};
use tokio::{io::AsyncWriteExt, net::TcpStream};

/// Sends a head with the whole length and half of the body, and closes the connection. HTTP clients cannot do this, so
/// it is written by hand.
pub(crate) async fn send_half(request: &Request<Bytes>) -> io::Result<()> {
    let uri = request.uri();
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().unwrap_or(80);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let body = request.body();
    let mut bytes = format!("POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\n").into_bytes();
    for (name, value) in request.headers() {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    let length = format!("{}: {}\r\n\r\n", header::CONTENT_LENGTH, body.len());
    bytes.extend(length.into_bytes());
    bytes.extend_from_slice(&body[..body.len() / 2]);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut stream = TcpStream::connect((host, port)).await?;
    stream.write_all(&bytes).await?;
    stream.shutdown().await
}
