//! What goes wrong, and for how long.

use std::time::Duration;

use fastrand::Rng;

use crate::world::{Account, DAY, SECOND, span};

/// What the API does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiFault {
    None,
    /// No connection: nothing was sent.
    Unreachable,
    /// The call is sent and cut before the service sees it.
    CutBefore,
    /// The call is carried out, and no answer comes.
    CutAfter,
    /// The call is carried out, and a proxy answers this.
    StatusAfter(u16),
    /// A proxy answers this, and the service sees nothing.
    Status(u16),
    /// With this `Retry-After`.
    RateLimited(Duration),
    /// 503 with this `Retry-After`.
    Unavailable(Duration),
    Unauthorized,
    Forbidden,
    /// 200 with a page.
    Page,
    /// The answer is cut in the middle.
    Truncated,
    /// JSON that is no article.
    NotAnArticle,
    /// The answer about another job.
    OtherJob,
    Panics,
    Hangs,
}

/// What becomes of a call of the store or the service at a named point of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallFault {
    None,
    CrashBefore,
    /// It was carried out, and its answer is not seen.
    CrashAfter,
    FailsBefore,
    /// It was carried out, and its failure is reported to the application.
    FailsAfter,
    SlowBefore(Duration),
    SlowAfter(Duration),
}

/// What fails now. Nothing does, once the faults have ended.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) have_ended: bool,
    /// How often a call fails, in parts of 1,000.
    crashes: u32,
    failures: u32,
    api_faults: u32,
    /// Until when the store is out of order for each node.
    pub(crate) store: [Duration; 2],
    pub(crate) receiver: Duration,
    pub(crate) api: (ApiFault, Duration),
    /// Until when the key of the other account is used, and the receiver is down.
    pub(crate) other_key: Duration,
}

impl Faults {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        Self {
            have_ended: false,
            crashes: [0, 2, 10, 40][rng.usize(..4)],
            failures: [0, 5, 30][rng.usize(..3)],
            api_faults: [0, 20, 150, 400][rng.usize(..4)],
            store: [Duration::ZERO; 2],
            receiver: Duration::ZERO,
            api: (ApiFault::None, Duration::ZERO),
            other_key: Duration::ZERO,
        }
    }

    /// The account whose key a process uses that begins now.
    pub(crate) fn account(&self, now: Duration) -> Account {
        match !self.have_ended && now < self.other_key {
            true => Account::Other,
            false => Account::Ours,
        }
    }

    pub(crate) fn store_is_down(&self, node: usize, now: Duration) -> bool {
        !self.have_ended && now < self.store[node]
    }

    pub(crate) fn receiver_is_down(&self, now: Duration) -> bool {
        !self.have_ended && now < self.receiver.max(self.other_key)
    }

    pub(crate) fn api_fault(&self, rng: &mut Rng, now: Duration) -> ApiFault {
        if self.have_ended {
            return ApiFault::None;
        }
        if now < self.api.1 {
            return self.api.0;
        }
        if rng.u32(..1000) < self.api_faults { any_api_fault(rng) } else { ApiFault::None }
    }

    /// What happens at a point. Only a call of the store can fail there.
    pub(crate) fn call_fault(&self, rng: &mut Rng) -> CallFault {
        if self.have_ended {
            return CallFault::None;
        }
        match rng.u32(..1000) {
            part if part < self.crashes => match rng.u8(..2) {
                0 => CallFault::CrashBefore,
                _ => CallFault::CrashAfter,
            },
            part if part < self.crashes + self.failures => match rng.u8(..5) {
                0 | 1 => CallFault::FailsBefore,
                2 => CallFault::FailsAfter,
                3 => CallFault::SlowBefore(span(rng, SECOND / 100, 100 * SECOND)),
                _ => CallFault::SlowAfter(span(rng, SECOND / 100, 100 * SECOND)),
            },
            _ => CallFault::None,
        }
    }
}

/// One of the faults of the API that may hit a single call, or all for some time.
pub(crate) fn any_api_fault(rng: &mut Rng) -> ApiFault {
    match rng.u8(..16) {
        0 => ApiFault::Unreachable,
        1 => ApiFault::CutBefore,
        2 => ApiFault::CutAfter,
        3 => ApiFault::StatusAfter([500, 502, 504, 302][rng.usize(..4)]),
        4 => ApiFault::Status([500, 502, 404, 302, 418][rng.usize(..5)]),
        5 | 6 => ApiFault::RateLimited(whole(span(rng, SECOND, DAY))),
        7 => ApiFault::Unavailable(whole(span(rng, SECOND, DAY))),
        8 => ApiFault::Unauthorized,
        9 => ApiFault::Forbidden,
        10 => ApiFault::Page,
        11 => ApiFault::Truncated,
        12 => ApiFault::NotAnArticle,
        13 => ApiFault::OtherJob,
        14 => ApiFault::Panics,
        _ => ApiFault::Hangs,
    }
}

/// `Retry-After` has no fractions.
fn whole(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs() + 1)
}
