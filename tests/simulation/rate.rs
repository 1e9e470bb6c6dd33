//! How fast the service was called, against the rate, the pauses that it asked for, and its refusals of the key.

use std::time::Duration;

use crate::{node::Process, world::Plan};

/// A token is used within this time, or never.
pub(crate) const TOKEN_VALIDITY: Duration = Duration::from_secs(5);

/// What is left of a pause is rounded up to a second, and a slow call of the store is carried out this late.
const LATE: Duration = Duration::from_secs(101);

/// Timers and the store count whole milliseconds.
const SAME_TIME: Duration = Duration::from_millis(10);

/// The pause of a refused key before it is tried again.
const REFUSED_KEY_PAUSE: Duration = Duration::from_secs(300);

#[derive(Default)]
pub(crate) struct Rate {
    /// Polls.
    per_minute: u32,
    burst: u32,
    /// The polls that are not yet paid for by the rate, and when that was.
    level: (f64, Duration),
    /// The pauses that the service asked for and the application has stored: from when, until when.
    pauses: Vec<(Duration, Duration)>,
    /// The pauses that each process was answered with.
    answered: Vec<Answered>,
    /// For how long the machines of the application were suspended.
    pub(crate) asleep: Duration,
    /// How often the service refused the key.
    refusals: u32,
    /// The refusal of a key that the application has stored last, unless a pause of the service took its place.
    refused: Option<Refused>,
}

/// A pause that the service asked a process for.
struct Answered {
    process: Process,
    at: Duration,
    /// When the answer comes to the process, in time in which the machines are not suspended.
    comes: Duration,
    pause: Duration,
    /// A person lifted it.
    is_lifted: bool,
    /// The process has stored a pause that may be this one.
    is_stored: bool,
}

/// A key that is refused.
struct Refused {
    key: u64,
    since: Duration,
    /// When the next call may try it.
    next: Duration,
}

impl Rate {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { per_minute: plan.per_minute, burst: plan.burst, ..Self::default() }
    }

    /// A poll is sent.
    pub(crate) fn poll_sent(&mut self, process: &Process, now: Duration) -> Result<(), String> {
        let rate = f64::from(self.per_minute) / 60.0;
        let (level, at) = self.level;
        let level = (level - rate * (now - at).as_secs_f64()).max(0.0) + 1.0;
        self.level = (level, now);
        // Rounded, because this counts in fractions.
        let most = f64::from(self.burst) + rate * TOKEN_VALIDITY.as_secs_f64() + 0.01;
        if level > most {
            return Err(format!("{level:.2} polls at once, and at most {most:.2} may be"));
        }
        self.sent(process, now)
    }

    /// A call is sent, for a poll or an order.
    pub(crate) fn sent(&mut self, process: &Process, now: Duration) -> Result<(), String> {
        let awake = now - self.asleep;
        let mut answered = self.answered.iter().filter(|answered| answered.process == *process);
        // Once it is stored, a token that was taken before may be used as long as it is valid.
        let known = answered.find(|answered| {
            !answered.is_lifted
                && !answered.is_stored
                && answered.comes + SAME_TIME < awake
                && now < answered.at + answered.pause
        });
        if let Some(Answered { at, pause, .. }) = known {
            return Err(format!(
                "{process} calls, and was asked for a pause of {pause:?} at {at:?}"
            ));
        }
        let mut pauses = self.pauses.iter();
        let pause = pauses.find(|(from, until)| *from + TOKEN_VALIDITY < now && now < *until);
        if let Some((_, until)) = pause {
            let early = *until - now;
            return Err(format!("a call is sent {early:?} before the end of a Retry-After"));
        }
        let key = process.account().fingerprint();
        let refused = self.refused.as_mut().filter(|refused| refused.key == key);
        let Some(refused) = refused.filter(|refused| refused.since + TOKEN_VALIDITY < now) else {
            return Ok(());
        };
        if now < refused.next {
            let early = refused.next - now;
            return Err(format!("a call is sent {early:?} before the next try of a refused key"));
        }
        refused.next = now + REFUSED_KEY_PAUSE - TOKEN_VALIDITY;
        Ok(())
    }

    /// The service asked this process for a pause, in an answer that is under way for a time.
    pub(crate) fn pause_answered(
        &mut self,
        process: &Process,
        now: Duration,
        way: Duration,
        pause: Duration,
    ) {
        self.answered.push(Answered {
            process: process.clone(),
            at: now,
            comes: now - self.asleep + way,
            pause,
            is_lifted: false,
            is_stored: false,
        });
    }

    /// The application stored a pause.
    pub(crate) fn pause_stored(
        &mut self,
        process: &Process,
        pause: Duration,
        now: Duration,
    ) -> Result<(), String> {
        let awake = now - self.asleep;
        // What is left of it when it is stored. If nothing is, it could be stored only after its end.
        let ends = (!pause.is_zero()).then_some(awake + pause);
        let is_stored = |answered: &&mut Answered| {
            let expected = answered.comes + answered.pause;
            answered.process == *process
                && ends.map_or(expected <= awake + SAME_TIME, |ends| {
                    expected < ends + SAME_TIME && ends < expected + LATE + SAME_TIME
                })
        };
        let of = self.answered.iter_mut().filter(is_stored);
        let last = of.map(|answered| {
            answered.is_stored = true;
            answered.at + answered.pause
        });
        match last.last() {
            Some(until) if ends.is_some() => {
                self.pauses.push((now, until));
                // There is one pause.
                self.refused = None;
            }
            None if ends.is_some() => {
                return Err(format!("a pause of {pause:?} is stored, and no answer asked for it"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Until when the service may be asked for nothing.
    pub(crate) fn paused_until(&self) -> Duration {
        // Also an answer that is not stored yet. A process does not know how long it was suspended.
        let answered = self.answered.iter().map(|answered| answered.comes + answered.pause);
        answered.max().unwrap_or_default() + self.asleep
    }

    /// The service refused the key.
    pub(crate) fn key_refused(&mut self) {
        self.refusals += 1;
    }

    /// The application stored that the key is refused.
    pub(crate) fn refusal_stored(&mut self, key: u64, now: Duration) -> Result<(), String> {
        if self.refusals == 0 {
            return Err("a refused key is stored, and no answer refused it".to_owned());
        }
        let is_known = self.refused.as_ref().is_some_and(|refused| refused.key == key);
        if self.pauses.iter().any(|(_, until)| now < *until + LATE) {
            // The pause of the service stays in its place.
            self.refused = None;
        } else if !is_known {
            self.refused = Some(Refused { key, since: now, next: now + REFUSED_KEY_PAUSE });
        }
        Ok(())
    }

    /// The application stored that the service accepted the key.
    pub(crate) fn key_accepted(&mut self, key: u64) {
        self.refused.take_if(|refused| refused.key == key);
    }

    /// A person lifted the pause.
    pub(crate) fn resumed(&mut self) {
        self.pauses.clear();
        self.answered.iter_mut().for_each(|answered| answered.is_lifted = true);
        self.refused = None;
    }
}
