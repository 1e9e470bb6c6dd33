use bytes::Bytes;

pub(crate) const TOKEN: &str = "Bearer conformance-5f2b9c0e7a1d";

pub(crate) const ARTICLE: &str =
    r#"{"job_id":"job_1","status":"complete","article":{"title":"Title","html":"<p>Text</p>"}}"#;

/// A request as a row writes it down.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) body: Bytes,
    segment: String,
    headers: Vec<(String, Vec<u8>)>,
    framing: Framing,
}

#[derive(Debug, Clone, Copy)]
enum Framing {
    /// No body, and no word about one.
    Bodyless,
    /// The length is declared, and this number of bytes follows.
    Sized,
    /// Chunks of this number of bytes, and the last chunk.
    Chunked(usize),
    /// This length is declared, and no byte is sent while the sender waits for the answer.
    Unsent(u64),
    /// This length is declared, and the sender waits before it.
    Stalled(usize),
    /// Chunks, and the sender waits instead of sending the last one.
    StalledChunks,
    /// This length is declared, and the sender ends the stream before it.
    Short(usize),
    /// Chunks, and the sender ends the stream instead of sending the last one.
    Unfinished,
}

/// The delivery of an article, as the service sends it.
pub(crate) fn delivery() -> Request {
    let headers = [
        ("Authorization", TOKEN),
        ("Content-Type", "application/json"),
        ("X-Service-Event", "article.complete"),
        ("X-Service-Job-Id", "job_1"),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.into()));
    Request {
        method: "POST".into(),
        body: ARTICLE.into(),
        segment: String::new(),
        headers: headers.into(),
        framing: Framing::Sized,
    }
}

impl Request {
    pub(crate) fn method(self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self }
    }

    pub(crate) fn body(self, body: impl AsRef<[u8]>) -> Self {
        let body = Bytes::copy_from_slice(body.as_ref());
        Self { body, ..self }
    }

    /// The last segment of the path, where that is the secret.
    pub(crate) fn segment(self, segment: &str) -> Self {
        let segment = format!("/{segment}");
        Self { segment, ..self }
    }

    /// The header has this value and no other.
    pub(crate) fn with(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).and(name, value)
    }

    /// The header has this value as well.
    pub(crate) fn and(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.into(), value.as_ref().into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| own != name);
        self
    }

    pub(crate) fn bodyless(self) -> Self {
        self.body("").framed(Framing::Bodyless)
    }

    pub(crate) fn chunked(self, bytes: usize) -> Self {
        self.framed(Framing::Chunked(bytes))
    }

    pub(crate) fn unsent(self, declared: u64) -> Self {
        self.framed(Framing::Unsent(declared))
    }

    pub(crate) fn stalled(self, missing: usize) -> Self {
        let declared = self.body.len() + missing;
        self.framed(Framing::Stalled(declared))
    }

    pub(crate) fn stalled_in_chunks(self) -> Self {
        self.framed(Framing::StalledChunks)
    }

    pub(crate) fn short(self, missing: usize) -> Self {
        let declared = self.body.len() + missing;
        self.framed(Framing::Short(declared))
    }

    pub(crate) fn unfinished(self) -> Self {
        self.framed(Framing::Unfinished)
    }

    fn framed(self, framing: Framing) -> Self {
        Self { framing, ..self }
    }

    /// Whether the sender ends the stream early, instead of waiting for the answer.
    pub(crate) fn ends_early(&self) -> bool {
        matches!(self.framing, Framing::Short(_) | Framing::Unfinished)
    }

    /// The headers, the one that frames the body included.
    fn headers(&self) -> Vec<(String, Vec<u8>)> {
        let framing = match self.framing {
            Framing::Bodyless => None,
            Framing::Sized => Some(("Content-Length", self.body.len().to_string())),
            Framing::Unsent(bytes) => Some(("Content-Length", bytes.to_string())),
            Framing::Short(bytes) | Framing::Stalled(bytes) => {
                Some(("Content-Length", bytes.to_string()))
            }
            Framing::Chunked(_) | Framing::Unfinished | Framing::StalledChunks => {
                Some(("Transfer-Encoding", "chunked".into()))
            }
        };
        let framing = framing.map(|(name, value)| (name.into(), value.into_bytes()));
        self.headers.iter().cloned().chain(framing).collect()
    }

    /// The body in the pieces that arrive.
    fn pieces(&self) -> Vec<Bytes> {
        match self.framing {
            Framing::Unsent(_) => Vec::new(),
            Framing::Chunked(bytes) => {
                let pieces = self.body.chunks(bytes);
                pieces.map(|piece| self.body.slice_ref(piece)).collect()
            }
            _ => vec![self.body.clone()],
        }
    }

    /// The bytes on the wire.
    pub(crate) fn wire(&self, mounted: &str) -> Vec<u8> {
        let Self { method, segment, .. } = self;
        let start = format!("{method} {mounted}{segment} HTTP/1.1\r\nHost: receiver.test\r\n");
        let mut wire = start.into_bytes();
        for (name, value) in self.headers() {
            wire.extend([name.as_bytes(), b": ", &value, b"\r\n"].concat());
        }
        wire.extend(b"\r\n");
        for piece in self.pieces() {
            match self.framing {
                Framing::Chunked(_) | Framing::Unfinished | Framing::StalledChunks => {
                    wire.extend(chunk(&piece));
                }
                _ => wire.extend(piece),
            }
        }
        if let Framing::Chunked(_) = self.framing {
            wire.extend(b"0\r\n\r\n");
        }
        wire
    }
}

/// A chunk of a chunked body.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let size = format!("{:x}\r\n", bytes.len());
    [size.as_bytes(), bytes, b"\r\n"].concat()
}
