use std::pin::Pin;

use super::{expectation::Expectation, sample::Sample};
use crate::{
    CheckFinding, Verdict,
    http::{Observed, Request, exchange},
};

/// One thing that a receiver must do right.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) sent: &'static str,
    pub(crate) expect: Expectation,
    /// The verdict if the receiver accepts a request that it must refuse, or refuses one that it must
    /// accept.
    pub(crate) severity: Verdict,
    pub(crate) why: &'static str,
    pub(crate) fix: &'static str,
    pub(crate) action: Action,
}

pub(crate) enum Action {
    /// Sends one request on a connection of its own.
    Send(fn(&Sample) -> Request),
    /// Anything else. Each response is checked.
    Run(fn(Sample) -> Run),
}

/// What came back in a case. Some cases have several.
pub(crate) struct Answer {
    pub(crate) case: &'static str,
    pub(crate) expect: Expectation,
    pub(crate) observed: Observed,
}

pub(crate) type Run = Pin<Box<dyn Future<Output = Vec<Observed>> + Send>>;

impl Case {
    /// The same case, but a receiver that does not pass it gets advice and does not fail.
    pub(crate) fn advisory(self) -> Self {
        Self { severity: Verdict::Advice, ..self }
    }

    pub(crate) async fn run(&self, sample: Sample) -> Vec<Observed> {
        match self.action {
            Action::Send(request) => vec![exchange(&sample.endpoint, &request(&sample)).await],
            Action::Run(run) => run(sample).await,
        }
    }

    /// The finding for the worst response.
    pub(crate) fn finding(&self, observed: &[Observed]) -> CheckFinding {
        let verdicts = observed
            .iter()
            .map(|observed| (self.expect.verdict(observed, self.severity), observed));
        let worst = verdicts.max_by_key(|&(verdict, _)| verdict);
        let (verdict, received) = worst.unwrap_or((Verdict::Fail, &Observed::NotTried));
        CheckFinding {
            name: self.name,
            verdict,
            sent: self.sent,
            expected: self.expect.describe(),
            why: self.why,
            received: received.describe(),
            fix: self.fix,
        }
    }
}
