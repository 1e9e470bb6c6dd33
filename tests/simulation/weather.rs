//! What goes wrong, and for how long.

use std::time::Duration;

use fastrand::Rng;

use crate::world::{DAY, SECOND, span};

/// What the API does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    Fine,
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
    /// No job is known, as by the key of another environment.
    OtherKey,
    Panics,
    Hangs,
}

/// What becomes of a call at a named point of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accident {
    None,
    CrashBefore,
    /// It was carried out, and its answer is not seen.
    CrashAfter,
    FailsBefore,
    /// It was carried out, and the application is told that it failed.
    FailsAfter,
    SlowBefore(Duration),
    SlowAfter(Duration),
}

/// What is wrong now. Everything ends when it is calm.
#[derive(Debug)]
pub(crate) struct Weather {
    is_calm: bool,
    /// How often a call ends in an accident, in parts of 1,000.
    crashes: u32,
    failures: u32,
    moods: u32,
    /// Until when the store is out of order for each node.
    store: [Duration; 2],
    receiver: Duration,
    api: (Mood, Duration),
    /// Until when the API knows no job, and the receiver is down.
    other_key: Duration,
}

impl Weather {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        Self {
            is_calm: false,
            crashes: [0, 2, 10, 40][rng.usize(..4)],
            failures: [0, 5, 30][rng.usize(..3)],
            moods: [0, 20, 150, 400][rng.usize(..4)],
            store: [Duration::ZERO; 2],
            receiver: Duration::ZERO,
            api: (Mood::Fine, Duration::ZERO),
            other_key: Duration::ZERO,
        }
    }

    pub(crate) fn calm(&mut self) {
        self.is_calm = true;
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.is_calm
    }

    /// An outage of the store for these nodes, which a run cannot end.
    pub(crate) fn store_fails(&mut self, nodes: &[usize], until: Duration) {
        nodes.iter().for_each(|node| self.store[*node] = until);
    }

    pub(crate) fn receiver_fails(&mut self, until: Duration) {
        self.receiver = until;
    }

    pub(crate) fn api_is(&mut self, mood: Mood, until: Duration) {
        self.api = (mood, until);
    }

    /// The key of another environment is used, and nothing is delivered. Once in a run: twice, and with another job that was
    /// answered in between, the service would say the same about a job that is lost.
    pub(crate) fn key_is_another(&mut self, until: Duration) {
        self.other_key = until;
    }

    pub(crate) fn store_is_down(&self, node: usize, now: Duration) -> bool {
        !self.is_calm && now < self.store[node]
    }

    pub(crate) fn receiver_is_down(&self, now: Duration) -> bool {
        !self.is_calm && now < self.receiver.max(self.other_key)
    }

    pub(crate) fn mood(&self, rng: &mut Rng, now: Duration) -> Mood {
        if self.is_calm {
            return Mood::Fine;
        }
        if now < self.other_key {
            return Mood::OtherKey;
        }
        if now < self.api.1 {
            return self.api.0;
        }
        if rng.u32(..1000) < self.moods { any_mood(rng) } else { Mood::Fine }
    }

    /// What happens at a point. Only a call of the store can fail there.
    pub(crate) fn accident(&self, rng: &mut Rng) -> Accident {
        if self.is_calm {
            return Accident::None;
        }
        match rng.u32(..1000) {
            part if part < self.crashes => match rng.u8(..2) {
                0 => Accident::CrashBefore,
                _ => Accident::CrashAfter,
            },
            part if part < self.crashes + self.failures => match rng.u8(..5) {
                0 | 1 => Accident::FailsBefore,
                2 => Accident::FailsAfter,
                3 => Accident::SlowBefore(span(rng, SECOND / 100, 100 * SECOND)),
                _ => Accident::SlowAfter(span(rng, SECOND / 100, 100 * SECOND)),
            },
            _ => Accident::None,
        }
    }
}

/// One of the faults of the API that may hit a single call, or all for some time.
pub(crate) fn any_mood(rng: &mut Rng) -> Mood {
    match rng.u8(..16) {
        0 => Mood::Unreachable,
        1 => Mood::CutBefore,
        2 => Mood::CutAfter,
        3 => Mood::StatusAfter([500, 502, 504][rng.usize(..3)]),
        4 => Mood::Status([500, 502, 404, 302, 418][rng.usize(..5)]),
        5 | 6 => Mood::RateLimited(whole(span(rng, SECOND, DAY))),
        7 => Mood::Unavailable(whole(span(rng, SECOND, DAY))),
        8 => Mood::Unauthorized,
        9 => Mood::Forbidden,
        10 => Mood::Page,
        11 => Mood::Truncated,
        12 => Mood::NotAnArticle,
        13 => Mood::OtherJob,
        14 => Mood::Panics,
        _ => Mood::Hangs,
    }
}

/// `Retry-After` has no fractions.
fn whole(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs() + 1)
}
