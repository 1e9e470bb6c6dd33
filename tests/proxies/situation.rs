//! What is sent to a receiver through a proxy, and what must come of it.

use std::{net::SocketAddr, sync::LazyLock};

use article_webhook::fixture::TOKEN;
use article_webhook_tests::{connection::Connection, serve::PATH};

/// The default limit of a receiver.
const LIMIT: usize = 8 << 20;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation {
    pub(crate) name: &'static str,
    version: &'static str,
    path: &'static str,
    tokens: &'static [&'static str],
    content_type: &'static str,
    framing: Framing,
    end: SendingEnds,
    length: usize,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone, Copy)]
enum Framing {
    Length,
    /// The same, with `Expect: 100-continue`, which is not waited for.
    Expect,
    Chunks,
}

/// When the sender closes its side of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendingEnds {
    AfterTheAnswer,
    AfterTheRequest,
    /// A request whose body is incomplete.
    InTheBody,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The sink has the exact bytes, once.
    Stored,
    /// The receiver answers with this status, and reports the job to the sink.
    Refused(u16),
    /// The receiver answers 401.
    Unauthorized,
    /// The proxy or the receiver refuses it, with any status from 400.
    RefusedByEither,
    /// The same, or there is no answer.
    NotAcknowledged,
}

/// A small delivery as the service sends it.
pub(crate) const DELIVERY: Situation = Situation {
    name: "a delivery",
    version: "1.1",
    path: PATH,
    tokens: &[TOKEN],
    content_type: "application/json",
    framing: Framing::Length,
    end: SendingEnds::AfterTheAnswer,
    length: 300,
    outcome: Outcome::Stored,
};

const OVER_THE_LIMIT: Situation = Situation {
    name: "8 MiB and a byte",
    length: LIMIT + 1,
    outcome: Outcome::Refused(413),
    ..DELIVERY
};

const STRANGER_OF_8_MIB: Situation = Situation {
    name: "a wrong token, 8 MiB",
    tokens: &[WRONG],
    length: LIMIT,
    outcome: Outcome::Unauthorized,
    ..DELIVERY
};

/// A request with a wrong token.
const STRANGER: Situation = Situation {
    name: "a wrong token",
    tokens: &[WRONG],
    outcome: Outcome::Unauthorized,
    ..DELIVERY
};

const WRONG: &str = "Bearer fixture-5f2b9c0e7a1d4e39";

pub(crate) const TABLE: &[Situation] = &[
    DELIVERY,
    Situation { name: "in chunks", framing: Framing::Chunks, ..DELIVERY },
    Situation { name: "by HTTP/1.0", version: "1.0", ..DELIVERY },
    Situation { name: "with Expect", framing: Framing::Expect, ..DELIVERY },
    Situation { name: "8 MiB", length: LIMIT, ..DELIVERY },
    Situation { name: "8 MiB in chunks", length: LIMIT, framing: Framing::Chunks, ..DELIVERY },
    OVER_THE_LIMIT,
    Situation { name: "8 MiB and a byte in chunks", framing: Framing::Chunks, ..OVER_THE_LIMIT },
    Situation {
        name: "text/plain",
        content_type: "text/plain",
        outcome: Outcome::Refused(415),
        ..DELIVERY
    },
    Situation { name: "no token", tokens: &[], outcome: Outcome::Unauthorized, ..DELIVERY },
    STRANGER,
    Situation {
        name: "a wrong token, then the right one",
        tokens: &[WRONG, TOKEN],
        outcome: Outcome::RefusedByEither,
        ..DELIVERY
    },
    Situation {
        name: "the right token, then a wrong one",
        tokens: &[TOKEN, WRONG],
        outcome: Outcome::RefusedByEither,
        ..DELIVERY
    },
    STRANGER_OF_8_MIB,
    Situation {
        name: "a wrong token, 8 MiB in chunks",
        framing: Framing::Chunks,
        ..STRANGER_OF_8_MIB
    },
    Situation {
        name: "another path",
        path: "/articles",
        outcome: Outcome::RefusedByEither,
        ..DELIVERY
    },
    Situation {
        name: "half of the body, then the end of the stream",
        end: SendingEnds::InTheBody,
        outcome: Outcome::NotAcknowledged,
        ..DELIVERY
    },
    Situation {
        name: "a wrong token, then the end of the stream",
        tokens: &[WRONG],
        end: SendingEnds::AfterTheRequest,
        outcome: Outcome::NotAcknowledged,
        ..DELIVERY
    },
];

impl Situation {
    /// Whether the receiver refuses it with more of its body unread than it would read and drop.
    pub(crate) fn is_long_refusal(&self) -> bool {
        let is_refused = matches!(self.outcome, Outcome::Refused(_) | Outcome::Unauthorized);
        is_refused && self.length > 64 << 10
    }

    /// The status of the answer to its request. `None` if the connection ends without one.
    pub(crate) fn status(&self, proxy: SocketAddr, request: &[u8]) -> Option<u16> {
        let mut connection = Connection::open(proxy);
        connection.send(request);
        if self.end != SendingEnds::AfterTheAnswer {
            connection.finish_sending();
        }
        connection.answer_to("POST").ok().map(|response| response.status)
    }

    /// A complete article. Its text repeats after a prime number of bytes, so that a block that is missing or
    /// moved is noticed.
    pub(crate) fn body(&self, job_id: &str) -> Vec<u8> {
        static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let mut random = fastrand::Rng::with_seed(12);
            let text: Vec<u8> = (0..65_521).map(|_| random.alphanumeric() as u8).collect();
            text.repeat(LIMIT / text.len() + 1)
        });
        let start = format!(
            r#"{{"job_id":"{job_id}","status":"complete","article":{{"title":"Title","html":""#
        );
        let end = br#""}}"#;
        let text = &TEXT[..self.length - start.len() - end.len()];
        [start.as_bytes(), text, end].concat()
    }

    /// The request, in bytes.
    pub(crate) fn request(&self, job_id: &str, body: &[u8]) -> Vec<u8> {
        let Self { version, path, content_type, .. } = self;
        let mut request = format!(
            "POST {path} HTTP/{version}\r\nHost: hooks.example.com\r\nConnection: close\r\nContent-Type: {content_type}\r\n\
             X-Service-Event: article.complete\r\nX-Service-Job-Id: {job_id}\r\n"
        );
        for token in self.tokens {
            request += &format!("Authorization: {token}\r\n");
        }
        let length = body.len();
        request += &match self.framing {
            Framing::Length => format!("Content-Length: {length}\r\n\r\n"),
            Framing::Expect => {
                format!("Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n")
            }
            Framing::Chunks => "Transfer-Encoding: chunked\r\n\r\n".to_owned(),
        };
        let mut request = request.into_bytes();
        match self.framing {
            Framing::Length | Framing::Expect => request.extend_from_slice(body),
            Framing::Chunks => {
                for chunk in body.chunks(50_000) {
                    request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    request.extend_from_slice(chunk);
                    request.extend_from_slice(b"\r\n");
                }
                request.extend_from_slice(b"0\r\n\r\n");
            }
        }
        if self.end == SendingEnds::InTheBody {
            request.truncate(request.len() - body.len() / 2);
        }
        request
    }
}
