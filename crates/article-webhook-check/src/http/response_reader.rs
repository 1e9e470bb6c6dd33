use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::observed::{Observed, Response};

/// Limit for a head, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Limit for a body, in bytes. Receivers answer with short texts.
const MAX_BODY: usize = 256 << 10;
/// Limit for interim responses, such as `100 Continue`, which are skipped.
const MAX_INTERIM: usize = 8;

/// How an alert of TLS begins: its content type and its major version.
const TLS_ALERT: [u8; 2] = [21, 3];

/// Reads responses from a connection. The peer may send anything, so everything read is bounded.
pub(crate) struct ResponseReader {
    unread: Vec<u8>,
}

struct Head {
    status: u16,
    bytes: Vec<u8>,
    framing: Framing,
    closes: bool,
}

enum Framing {
    Length(usize),
    Chunks,
    UntilClose,
}

impl ResponseReader {
    pub(crate) fn new() -> Self {
        Self { unread: Vec::new() }
    }

    /// The next final response.
    pub(crate) async fn response(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        method: &str,
    ) -> Observed {
        for _ in 0..=MAX_INTERIM {
            match self.head(stream, method).await {
                Ok(head) if head.status < 200 => {}
                Ok(head) => {
                    return match self.body(stream, &head).await {
                        Ok(body) => Observed::Response(Response {
                            status: head.status,
                            closes: head.closes || matches!(head.framing, Framing::UntilClose),
                            head: head.bytes,
                            body,
                            after: Duration::ZERO,
                        }),
                        Err(observed) => observed,
                    };
                }
                Err(observed) => return observed,
            }
        }
        Observed::InvalidResponse("interim responses without end")
    }

    /// Whether a response, or an interim response, has begun. Its bytes stay unread.
    pub(crate) async fn has_bytes(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> bool {
        !self.unread.is_empty() || self.fill(stream).await.is_ok()
    }

    async fn head(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        method: &str,
    ) -> Result<Head, Observed> {
        loop {
            if self.unread.starts_with(&TLS_ALERT) {
                return Err(Observed::TlsAlert);
            }
            if let Some((length, head)) = parse(&self.unread, method)? {
                self.unread.drain(..length);
                return Ok(head);
            }
            if self.unread.len() > MAX_HEAD {
                return Err(Observed::InvalidResponse("a head without end"));
            }
            self.fill(stream).await?;
        }
    }

    async fn body(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        head: &Head,
    ) -> Result<Vec<u8>, Observed> {
        match head.framing {
            Framing::Length(length) if length > MAX_BODY => Err(TOO_LONG),
            Framing::Length(length) => self.take(stream, length).await,
            Framing::UntilClose => {
                while self.fill(stream).await.is_ok() {
                    if self.unread.len() > MAX_BODY {
                        return Err(TOO_LONG);
                    }
                }
                Ok(std::mem::take(&mut self.unread))
            }
            Framing::Chunks => self.chunks(stream).await,
        }
    }

    async fn chunks(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, Observed> {
        let mut body = Vec::new();
        loop {
            let size = loop {
                match httparse::parse_chunk_size(&self.unread) {
                    Ok(httparse::Status::Complete((start, size))) => {
                        self.unread.drain(..start);
                        break usize::try_from(size).unwrap_or(usize::MAX);
                    }
                    Ok(httparse::Status::Partial) if self.unread.len() <= MAX_HEAD => {
                        self.fill(stream).await?;
                    }
                    _ => return Err(Observed::InvalidResponse("invalid chunks")),
                }
            };
            if size > MAX_BODY - body.len() {
                return Err(TOO_LONG);
            }
            if size == 0 {
                return self.trailers(stream).await.map(|()| body);
            }
            body.extend(self.take(stream, size).await?);
            if self.take(stream, 2).await? != b"\r\n" {
                return Err(Observed::InvalidResponse("invalid chunks"));
            }
        }
    }

    /// Skips the lines after the last chunk, up to the empty line.
    async fn trailers(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<(), Observed> {
        loop {
            let end = self.unread.windows(2).position(|window| window == b"\r\n");
            if let Some(end) = end {
                self.unread.drain(..end + 2);
                if end == 0 {
                    return Ok(());
                }
            } else if self.unread.len() > MAX_HEAD {
                return Err(Observed::InvalidResponse("invalid chunks"));
            } else {
                self.fill(stream).await?;
            }
        }
    }

    async fn take(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        length: usize,
    ) -> Result<Vec<u8>, Observed> {
        while self.unread.len() < length {
            self.fill(stream).await?;
        }
        Ok(self.unread.drain(..length).collect())
    }

    async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<(), Observed> {
        match stream.read_buf(&mut self.unread).await {
            Ok(1..) => Ok(()),
            _ => Err(Observed::Closed),
        }
    }
}

const TOO_LONG: Observed = Observed::InvalidResponse("a body over the limit of 256 KiB");

fn parse(bytes: &[u8], method: &str) -> Result<Option<(usize, Head)>, Observed> {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => {
            return Err(Observed::InvalidResponse("the status line or a header is not valid"));
        }
    };
    let status = response.code.filter(|status| (100..600).contains(status));
    let status = status.ok_or(Observed::InvalidResponse("the status is not valid"))?;
    let value = |name: &str| {
        let mut headers = response.headers.iter();
        let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
    };
    let framing = if status < 200 || matches!(status, 204 | 304) || method == "HEAD" {
        Framing::Length(0)
    } else if value("transfer-encoding").is_some_and(|coding| coding.ends_with("chunked")) {
        Framing::Chunks
    } else if let Some(length) = value("content-length") {
        Framing::Length(
            length
                .parse()
                .map_err(|_| Observed::InvalidResponse("the Content-Length is not valid"))?,
        )
    } else {
        Framing::UntilClose
    };
    let closes =
        response.version == Some(0) || value("connection").is_some_and(|value| value == "close");
    Ok(Some((length, Head { status, bytes: bytes[..length].to_vec(), framing, closes })))
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    fn observed(bytes: &[u8], method: &str) -> Observed {
        let runtime = Builder::new_current_thread().build().unwrap();
        let mut stream = bytes;
        runtime.block_on(ResponseReader::new().response(&mut stream, method))
    }

    fn body(bytes: &[u8], method: &str) -> Option<Vec<u8>> {
        observed(bytes, method).response().map(|response| response.body.clone())
    }

    #[test]
    fn a_response_ends_where_it_says() {
        for (bytes, whole) in [
            ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokmore", "ok"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x\r\nk\r\n0\r\n\r\n",
                "ok",
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: y\r\n\r\n",
                "ok",
            ),
            ("HTTP/1.0 200 OK\r\n\r\nok", "ok"),
            ("HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok", ""),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok"),
        ] {
            assert_eq!(
                body(bytes.as_bytes(), "POST").as_deref(),
                Some(whole.as_bytes()),
                "{bytes}"
            );
        }
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n";
        assert_eq!(body(head, "HEAD").as_deref(), Some(&b""[..]));
        assert!(matches!(observed(head, "POST"), Observed::Closed));
    }
}
