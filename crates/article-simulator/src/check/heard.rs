use std::time::Duration;

/// What came of a request.
#[derive(Debug, Clone)]
pub(super) enum Heard {
    Answer(Answer),
    /// No answer of HTTP/1, as the text says.
    Garbage(&'static str),
    /// The connection ended before an answer did.
    Closed,
    /// No whole answer in time.
    Late,
    Unreachable,
    /// The time for all cases was over.
    Untried,
}

#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Every byte of it, up to the limits.
    pub(super) head: Vec<u8>,
    pub(super) body: Vec<u8>,
    /// Whether the next request may be sent on the same connection.
    pub(super) is_last: bool,
    /// How long after the request's last byte it was there.
    pub(super) after: Duration,
}

impl Heard {
    pub(super) fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.answer().map(|answer| answer.status)
    }

    pub(super) fn is_success(&self) -> bool {
        matches!(self.status(), Some(200..=299))
    }

    /// In a few words. Nothing that the receiver wrote is in them.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Answer(Answer { status, after, .. }) => {
                format!("{status} in {} ms", after.as_millis())
            }
            Self::Garbage(what) => format!("no answer of HTTP: {what}"),
            Self::Closed => "connection closed without an answer".to_owned(),
            Self::Late => "no answer in time".to_owned(),
            Self::Unreachable => "no connection".to_owned(),
            Self::Untried => "not tried: the time was over".to_owned(),
        }
    }
}
