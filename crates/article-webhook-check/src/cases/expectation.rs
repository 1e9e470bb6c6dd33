use crate::{Verdict, http::Observed};

/// The response that a case expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// A 2xx.
    Accepted,
    /// This status. The service reacts to every refusal in the same way, so another status only gets
    /// advice.
    Refused(u16),
    /// A 2xx or this status.
    AcceptedOr(u16),
    /// Anything but a 2xx, including no response.
    NotAccepted,
}

impl Expectation {
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Accepted => "2xx".to_owned(),
            Self::Refused(status) => status.to_string(),
            Self::AcceptedOr(status) => format!("2xx or {status}"),
            Self::NotAccepted => "no 2xx".to_owned(),
        }
    }

    /// `severity` is the verdict if the receiver accepts a request that it must refuse, or refuses one
    /// that it must accept.
    pub(crate) fn verdict(self, observed: &Observed, severity: Verdict) -> Verdict {
        let (is_success, status) = (observed.is_success(), observed.status());
        match (self, observed) {
            (
                _,
                Observed::InvalidResponse(_)
                | Observed::TlsAlert
                | Observed::NotTried
                | Observed::Unreachable,
            ) => Verdict::Fail,
            (Self::NotAccepted, _) if is_success => severity,
            (Self::NotAccepted, _) => Verdict::Pass,
            // The receiver holds a connection and perhaps a thread for it.
            (_, Observed::TimedOut) => severity,
            (Self::Accepted, _) if is_success => Verdict::Pass,
            (Self::Accepted, _) => severity,
            (Self::AcceptedOr(_), _) if is_success => Verdict::Pass,
            (Self::AcceptedOr(wanted) | Self::Refused(wanted), _) if status == Some(wanted) => {
                Verdict::Pass
            }
            (Self::Refused(_), _) if is_success => severity,
            // Another 4xx, or an unintended refusal: a redirect, a 5xx, a closed connection.
            (Self::AcceptedOr(_) | Self::Refused(_), _) => Verdict::Advice,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Expectation::*, *};
    use crate::{
        Verdict::{Advice, Fail, Pass},
        http::Response,
    };

    fn status(status: u16) -> Observed {
        let (head, body, closes, after) = (Vec::new(), Vec::new(), false, Duration::ZERO);
        Observed::Response(Response { status, head, body, closes, after })
    }

    #[test]
    fn a_verdict_follows_from_the_expected_and_the_actual_response() {
        for (expect, observed, verdict) in [
            (Accepted, status(204), Pass),
            (Accepted, status(302), Fail),
            (Accepted, status(503), Fail),
            (Accepted, Observed::Closed, Fail),
            (Accepted, Observed::TimedOut, Fail),
            (Refused(415), status(415), Pass),
            (Refused(415), status(400), Advice),
            (Refused(415), status(500), Advice),
            (Refused(415), status(200), Fail),
            (Refused(401), Observed::Closed, Advice),
            (Refused(401), Observed::TimedOut, Fail),
            (Refused(401), Observed::InvalidResponse("a head without end"), Fail),
            (AcceptedOr(422), status(200), Pass),
            (AcceptedOr(422), status(422), Pass),
            (AcceptedOr(422), status(500), Advice),
            (NotAccepted, status(200), Fail),
            (NotAccepted, status(400), Pass),
            (NotAccepted, Observed::Closed, Pass),
            (NotAccepted, Observed::TimedOut, Pass),
            (NotAccepted, Observed::NotTried, Fail),
        ] {
            assert_eq!(expect.verdict(&observed, Fail), verdict, "{expect:?} {observed:?}");
        }
    }
}
