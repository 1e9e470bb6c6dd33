use crate::{
    answers::Answer,
    call_log::Entry,
    connection::{Response, Silence},
    row::{Outcome, Reply},
};

/// What came of a request: the answer, the connection, and what the application was asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) answer: Result<Heard, Silence>,
    pub(crate) connection: Fate,
    pub(crate) ledger: Vec<Entry>,
}

/// An answer, without the headers that frame it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) status: u16,
    /// In alphabetical order.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) length: Option<usize>,
    pub(crate) body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The next delivery on it was stored.
    Usable,
    /// It was closed, as the answer had announced.
    Closed,
    /// It was closed, and the answer had not announced that.
    ClosedSilently,
    /// It stayed open, and the answer had announced that it would be closed, or did not come at once.
    LeftOpen,
}

impl Exchange {
    pub(crate) fn expected(outcome: &Outcome, handled: Answer, method: &str) -> Self {
        let fate = if outcome.closes { Fate::Closed } else { Fate::Usable };
        let heard = |answer| Ok(Heard::expected(answer, method));
        let (answer, connection) = match outcome.reply {
            Reply::Answer(answer) => (heard(answer), fate),
            Reply::Handled => (heard(handled), fate),
            Reply::Cut => (Err(Silence::Closed), Fate::ClosedSilently),
        };
        let ledger = outcome.ledger.clone();
        Self { answer, connection, ledger }
    }
}

impl Heard {
    pub(crate) fn expected(answer: Answer, method: &str) -> Self {
        let headers = answer.headers.iter();
        let headers = headers.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let body = if method == "HEAD" { "" } else { answer.body };
        Self {
            status: answer.status,
            headers: headers.collect(),
            // A 204 must not declare a length (RFC 9110, section 8.6).
            length: (answer.status != 204).then_some(answer.body.len()),
            body: body.to_owned(),
        }
    }
}

impl From<Response> for Heard {
    fn from(response: Response) -> Self {
        let framing = ["connection", "content-length", "date"];
        let length = response.header("content-length");
        let length = length.map(|length| length.parse().expect("a length is a number"));
        let headers = response.headers.into_iter();
        let mut headers: Vec<_> =
            headers.filter(|(name, _)| !framing.contains(&name.as_str())).collect();
        headers.sort();
        Self { status: response.status, headers, length, body: response.body }
    }
}
