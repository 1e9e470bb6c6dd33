use std::time::Duration;

/// A request as it is written to a socket. It need not be valid.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    framing: Framing,
}

#[derive(Clone, Copy)]
enum Framing {
    /// The declared length is that of the body.
    Length,
    /// Chunks of this number of bytes.
    Chunks(usize),
    /// This length is declared, and no body is sent while the sender waits for a response.
    Declared(u64),
    /// The body is sent in this number of pieces with pauses between them.
    Pieces(usize),
}

const PAUSE: Duration = Duration::from_millis(100);

/// Bytes that are followed by a pause.
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    pub(crate) pause: Duration,
}

impl Request {
    pub(crate) fn post(path: &str, body: Vec<u8>) -> Self {
        let (method, path) = ("POST", path.to_owned());
        Self { method, path, headers: Vec::new(), body, framing: Framing::Length }
    }

    pub(crate) fn method(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    pub(crate) fn append_to_path(mut self, suffix: &str) -> Self {
        self.path.push_str(suffix);
        self
    }

    pub(crate) fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Sets the header to this one value.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// Adds one more value of the header.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.as_bytes().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        self
    }

    /// The header names in lower case, as written by a proxy that receives HTTP/2.
    pub(crate) fn with_names_in_lower_case(mut self) -> Self {
        for (name, _) in &mut self.headers {
            name.make_ascii_lowercase();
        }
        self
    }

    pub(crate) fn chunked(self, bytes: usize) -> Self {
        Self { framing: Framing::Chunks(bytes), ..self }
    }

    pub(crate) fn declaring(self, bytes: u64) -> Self {
        Self { framing: Framing::Declared(bytes), ..self }
    }

    pub(crate) fn in_pieces(self, count: usize) -> Self {
        Self { framing: Framing::Pieces(count), ..self }
    }

    /// The bytes on the wire, without pauses.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.pieces().into_iter().flat_map(|piece| piece.bytes).collect()
    }

    pub(crate) fn head(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path).into_bytes();
        let framing = match self.framing {
            Framing::Length | Framing::Pieces(_) => format!("Content-Length: {}", self.body.len()),
            Framing::Declared(bytes) => format!("Content-Length: {bytes}"),
            Framing::Chunks(_) => "Transfer-Encoding: chunked".to_owned(),
        };
        for (name, value) in &self.headers {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        head.extend([framing.as_bytes(), b"\r\n\r\n"].concat());
        head
    }

    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let at_once = |bytes| vec![Piece { bytes, pause: Duration::ZERO }];
        let head = self.head();
        match self.framing {
            Framing::Declared(_) => at_once(head),
            Framing::Length => at_once([&head[..], &self.body].concat()),
            Framing::Chunks(bytes) => {
                let chunks = self.body.chunks(bytes.max(1)).map(chunk);
                at_once(head.into_iter().chain(chunks.flatten()).chain(*b"0\r\n\r\n").collect())
            }
            Framing::Pieces(count) => {
                let bytes = self.body.len().div_ceil(count.max(1)).max(1);
                let body = self.body.chunks(bytes).map(<[u8]>::to_vec);
                let pieces = [head].into_iter().chain(body);
                pieces.map(|bytes| Piece { bytes, pause: PAUSE }).collect()
            }
        }
    }

    /// The head with the whole length, and half of the body.
    pub(crate) fn first_half(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.extend(&self.body[..self.body.len() / 2]);
        bytes
    }
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}
