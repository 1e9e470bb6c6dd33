use super::{finding::Verdict, heard::Heard};

/// What the answer should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// A 2xx.
    Taken,
    /// This status. Any other refusal makes the service do the same, so that is only advised against.
    Refused(u16),
    /// A 2xx or this status.
    TakenOr(u16),
    /// Anything but a 2xx, silence included.
    NotTaken,
}

impl Expect {
    pub(super) fn words(self) -> String {
        match self {
            Self::Taken => "2xx".to_owned(),
            Self::Refused(status) => status.to_string(),
            Self::TakenOr(status) => format!("2xx or {status}"),
            Self::NotTaken => "no 2xx".to_owned(),
        }
    }
}

/// `otherwise` is for a delivery taken that must not be, or one not taken that must.
pub(super) fn judge(expect: Expect, otherwise: Verdict, heard: &Heard) -> Verdict {
    let (is_success, status) = (heard.is_success(), heard.status());
    match (expect, heard) {
        (_, Heard::Garbage(_) | Heard::Untried | Heard::Unreachable) => Verdict::Fail,
        (Expect::NotTaken, _) if is_success => otherwise,
        (Expect::NotTaken, _) => Verdict::Pass,
        // A thread, a connection and a delivery hang with it.
        (_, Heard::Late) => otherwise,
        (Expect::Taken, _) if is_success => Verdict::Pass,
        (Expect::Taken, _) => otherwise,
        (Expect::TakenOr(_), _) if is_success => Verdict::Pass,
        (Expect::TakenOr(wanted) | Expect::Refused(wanted), _) if status == Some(wanted) => {
            Verdict::Pass
        }
        (Expect::Refused(_), _) if is_success => otherwise,
        // Another 4xx, or refused by accident: a redirect, a 5xx, a connection that was cut.
        (Expect::TakenOr(_) | Expect::Refused(_), _) => Verdict::Advice,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Expect::*, Verdict::*, *};
    use crate::check::heard::Answer;

    fn status(status: u16) -> Heard {
        let (head, body, is_last, after) = (Vec::new(), Vec::new(), false, Duration::ZERO);
        Heard::Answer(Answer { status, head, body, is_last, after })
    }

    #[test]
    fn a_verdict_follows_from_what_should_come_and_what_came() {
        for (expect, heard, verdict) in [
            (Taken, status(204), Pass),
            (Taken, status(302), Fail),
            (Taken, status(503), Fail),
            (Taken, Heard::Closed, Fail),
            (Taken, Heard::Late, Fail),
            (Refused(415), status(415), Pass),
            (Refused(415), status(400), Advice),
            (Refused(415), status(500), Advice),
            (Refused(415), status(200), Fail),
            (Refused(401), Heard::Closed, Advice),
            (Refused(401), Heard::Late, Fail),
            (Refused(401), Heard::Garbage("a head without end"), Fail),
            (TakenOr(422), status(200), Pass),
            (TakenOr(422), status(422), Pass),
            (TakenOr(422), status(500), Advice),
            (NotTaken, status(200), Fail),
            (NotTaken, status(400), Pass),
            (NotTaken, Heard::Closed, Pass),
            (NotTaken, Heard::Late, Pass),
            (NotTaken, Heard::Untried, Fail),
        ] {
            assert_eq!(judge(expect, Fail, &heard), verdict, "{expect:?} {heard:?}");
        }
    }

    #[test]
    fn what_is_only_advised_against_is_no_failure() {
        assert_eq!(judge(Taken, Advice, &status(400)), Advice);
        assert_eq!(judge(Refused(400), Advice, &status(200)), Advice);
        assert_eq!(judge(Refused(400), Advice, &Heard::Garbage("")), Fail);
    }
}
