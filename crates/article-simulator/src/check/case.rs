use std::pin::Pin;

use super::{
    connection::exchange,
    finding::{Finding, Verdict},
    heard::Heard,
    judge::{Expect, judge},
    request::Request,
    sample::Sample,
};

/// One thing that a receiver must do right.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) sent: &'static str,
    pub(super) expect: Expect,
    /// What it is if the worst comes: a delivery taken that must not be, or one not taken that must.
    pub(super) otherwise: Verdict,
    pub(super) why: &'static str,
    pub(super) fix: &'static str,
    pub(super) act: Act,
}

pub(super) enum Act {
    /// One request on a connection of its own.
    Send(fn(&Sample) -> Request),
    /// Anything else. Each answer is judged.
    Play(fn(Sample) -> Play),
}

pub(super) type Play = Pin<Box<dyn Future<Output = Vec<Heard>> + Send>>;

impl Case {
    pub(super) fn advising(self) -> Self {
        Self { otherwise: Verdict::Advice, ..self }
    }

    pub(super) async fn play(&self, sample: Sample) -> Vec<Heard> {
        match self.act {
            Act::Send(request) => vec![exchange(&sample.site, &request(&sample)).await],
            Act::Play(play) => play(sample).await,
        }
    }

    /// Judged by the worst answer.
    pub(super) fn finding(&self, heard: &[Heard]) -> Finding {
        let judged = heard.iter().map(|heard| (judge(self.expect, self.otherwise, heard), heard));
        let worst = judged.max_by_key(|&(verdict, _)| verdict);
        let (verdict, came) = worst.unwrap_or((Verdict::Fail, &Heard::Untried));
        Finding {
            name: self.name,
            verdict,
            sent: self.sent,
            expected: self.expect.words(),
            why: self.why,
            came: came.words(),
            fix: self.fix,
        }
    }
}
