use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::heard::{Answer, Heard};

/// A head may have so many bytes.
const HEAD: usize = 64 << 10;
/// A body may have so many: what a receiver has to say is short.
const BODY: usize = 256 << 10;
/// So many interim answers, such as `100 Continue`, are passed over.
const INTERIM: usize = 8;

/// A receiver's side of a connection. It believes nothing: all that it reads is bounded.
pub(super) struct Responses {
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

impl Responses {
    pub(super) fn new() -> Self {
        Self { unread: Vec::new() }
    }

    /// The next answer that is not an interim one.
    pub(super) async fn answer(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        method: &str,
    ) -> Heard {
        for _ in 0..=INTERIM {
            match self.head(stream, method).await {
                Ok(head) if head.status < 200 => {}
                Ok(head) => {
                    return match self.body(stream, &head).await {
                        Ok(body) => Heard::Answer(Answer {
                            status: head.status,
                            is_last: head.closes || matches!(head.framing, Framing::UntilClose),
                            head: head.bytes,
                            body,
                            after: Duration::ZERO,
                        }),
                        Err(heard) => heard,
                    };
                }
                Err(heard) => return heard,
            }
        }
        Heard::Garbage("interim answers without end")
    }

    /// Whether an answer has begun, an interim one included. It is not taken.
    pub(super) async fn begins(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> bool {
        !self.unread.is_empty() || self.fill(stream).await.is_ok()
    }

    async fn head(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        method: &str,
    ) -> Result<Head, Heard> {
        loop {
            if let Some((length, head)) = parse(&self.unread, method)? {
                self.unread.drain(..length);
                return Ok(head);
            }
            if self.unread.len() > HEAD {
                return Err(Heard::Garbage("a head without end"));
            }
            self.fill(stream).await?;
        }
    }

    async fn body(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        head: &Head,
    ) -> Result<Vec<u8>, Heard> {
        match head.framing {
            Framing::Length(length) if length > BODY => Err(TOO_LONG),
            Framing::Length(length) => self.take(stream, length).await,
            Framing::UntilClose => {
                while self.fill(stream).await.is_ok() {
                    if self.unread.len() > BODY {
                        return Err(TOO_LONG);
                    }
                }
                Ok(std::mem::take(&mut self.unread))
            }
            Framing::Chunks => self.chunks(stream).await,
        }
    }

    async fn chunks(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<Vec<u8>, Heard> {
        let mut body = Vec::new();
        loop {
            let size = loop {
                match httparse::parse_chunk_size(&self.unread) {
                    Ok(httparse::Status::Complete((start, size))) => {
                        self.unread.drain(..start);
                        break usize::try_from(size).unwrap_or(usize::MAX);
                    }
                    Ok(httparse::Status::Partial) if self.unread.len() <= HEAD => {
                        self.fill(stream).await?;
                    }
                    _ => return Err(Heard::Garbage("broken chunks")),
                }
            };
            if size > BODY - body.len() {
                return Err(TOO_LONG);
            }
            if size == 0 {
                return self.trailers(stream).await.map(|()| body);
            }
            body.extend(self.take(stream, size).await?);
            if self.take(stream, 2).await? != b"\r\n" {
                return Err(Heard::Garbage("broken chunks"));
            }
        }
    }

    /// Passes over the lines behind the last chunk, to the empty one.
    async fn trailers(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<(), Heard> {
        loop {
            let end = self.unread.windows(2).position(|window| window == b"\r\n");
            if let Some(end) = end {
                self.unread.drain(..end + 2);
                if end == 0 {
                    return Ok(());
                }
            } else if self.unread.len() > HEAD {
                return Err(Heard::Garbage("broken chunks"));
            } else {
                self.fill(stream).await?;
            }
        }
    }

    async fn take(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        length: usize,
    ) -> Result<Vec<u8>, Heard> {
        while self.unread.len() < length {
            self.fill(stream).await?;
        }
        Ok(self.unread.drain(..length).collect())
    }

    async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<(), Heard> {
        match stream.read_buf(&mut self.unread).await {
            Ok(1..) => Ok(()),
            _ => Err(Heard::Closed),
        }
    }
}

const TOO_LONG: Heard = Heard::Garbage("a body that is too long for an answer");

fn parse(bytes: &[u8], method: &str) -> Result<Option<(usize, Head)>, Heard> {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Heard::Garbage("its first line or a header is none")),
    };
    let status = response.code.filter(|status| (100..600).contains(status));
    let status = status.ok_or(Heard::Garbage("its status is none"))?;
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
        Framing::Length(length.parse().map_err(|_| Heard::Garbage("its length is none"))?)
    } else {
        Framing::UntilClose
    };
    let closes =
        response.version == Some(0) || value("connection").is_some_and(|value| value == "close");
    Ok(Some((length, Head { status, bytes: bytes[..length].to_vec(), framing, closes })))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use tokio::runtime::Builder;

    use super::*;

    fn heard(bytes: &[u8], method: &str) -> Heard {
        let runtime = Builder::new_current_thread().build().unwrap();
        let mut stream = bytes;
        runtime.block_on(Responses::new().answer(&mut stream, method))
    }

    fn body(bytes: &[u8], method: &str) -> Option<Vec<u8>> {
        heard(bytes, method).answer().map(|answer| answer.body.clone())
    }

    #[test]
    fn an_answer_ends_where_it_says() {
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
        assert!(matches!(heard(head, "POST"), Heard::Closed));
    }

    #[test]
    fn what_is_no_answer_is_said_to_be_none() {
        for bytes in [
            "hello\r\n\r\n",
            "HTTP/1.1 999 ?\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 262145\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
        ] {
            assert!(matches!(heard(bytes.as_bytes(), "POST"), Heard::Garbage(_)), "{bytes}");
        }
        let head = ["HTTP/1.1 200 OK\r\nx: ", &"x".repeat(HEAD)].concat();
        assert!(matches!(heard(head.as_bytes(), "POST"), Heard::Garbage("a head without end")));
        assert!(matches!(heard(b"HTTP/1.1 200", "POST"), Heard::Closed));
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 401 No\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "\r\n",
            "content-length: 5\r\n",
            "content-length: 99999999999999999999\r\n",
            "connection: close\r\n",
            "transfer-encoding: chunked\r\n",
            "5\r\nabcde\r\n",
            "0\r\n\r\n",
            "ffffffffffffffff\r\n",
            "5;x=\r\n",
        ]);
        let any = vec(any::<u8>(), 0..20);
        prop_oneof![4 => known.prop_map(|known| known.as_bytes().to_vec()), 1 => any]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_make_it_panic_or_keep_more_than_its_limits(pieces in vec(pieces(), 0..12)) {
            let bytes = pieces.concat();
            if let Some(answer) = heard(&bytes, "POST").answer() {
                prop_assert!((200..600).contains(&answer.status));
                prop_assert!(answer.head.len() + answer.body.len() <= bytes.len());
            }
        }
    }
}
