use crate::{
    answers::Answer,
    call_log::Entry,
    connection::{Response, Silence},
};

/// What came of a request: the answer, the connection, and what the application was asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Without the headers that frame it.
    pub(crate) answer: Result<String, Silence>,
    pub(crate) connection: Fate,
    pub(crate) ledger: Vec<Entry>,
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

/// An answer as a sender must find it.
pub(crate) fn promised(answer: Answer, method: &str) -> String {
    let Answer { status, headers, body } = answer;
    // A 204 must not declare a length (RFC 9110, section 8.6).
    let length = (status != 204).then_some(body.len());
    let body = if method == "HEAD" { "" } else { body };
    format!("{status} {headers:?}, length {length:?}: {body}")
}

/// An answer as it came.
pub(crate) fn heard(response: &Response) -> String {
    let framing = ["connection", "content-length", "date"];
    let length = response.header("content-length");
    let length = length.map(|length| length.parse::<usize>().expect("a length is a number"));
    let headers = response.headers.iter().filter(|(name, _)| !framing.contains(&name.as_str()));
    let mut headers: Vec<_> = headers.collect();
    headers.sort();
    format!("{} {headers:?}, length {length:?}: {}", response.status, response.body)
}
