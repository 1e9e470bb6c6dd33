//! How fast the service was called, against the rate, the pauses that it asked for, and its refusals of the key.

use std::time::Duration;

use crate::{
    node::Process,
    world::{HOUR, Plan},
};

/// A token is used within this time, or never.
pub(crate) const TOKEN_VALID: Duration = Duration::from_secs(5);

/// A pause is stored within this time after its answer: the rest of the way back, and two slow calls of the store.
const REPORTED: Duration = Duration::from_secs(300);

/// The pause of a refused key before it is tried first. It doubles with each try, up to an hour.
const FIRST_TRY: Duration = Duration::from_secs(300);

pub(crate) struct Rate {
    plan: Plan,
    /// The asks that are not yet paid for by the rate, and when that was.
    level: (f64, Duration),
    /// The pauses that the service asked for and the application has stored: from when, until when.
    pauses: Vec<(Duration, Duration)>,
    /// The pauses that each process was answered with.
    answered: Vec<Answered>,
    /// How often the service refused the key, or forbade a job.
    refusals: u32,
    /// The refusal of the key that the application has stored.
    refused: Option<Refused>,
}

/// A pause that the service asked a process for.
struct Answered {
    process: Process,
    at: Duration,
    pause: Duration,
    /// The process has stored it, or its store failed when it tried to.
    is_reported: bool,
}

/// Since the key is refused.
struct Refused {
    since: Duration,
    /// How many calls have tried it since.
    tries: u32,
    /// When the next one may.
    next: Duration,
}

impl Rate {
    pub(crate) fn new(plan: Plan) -> Self {
        let (pauses, answered) = (Vec::new(), Vec::new());
        let level = (0.0, Duration::ZERO);
        Self { plan, level, pauses, answered, refusals: 0, refused: None }
    }

    /// An ask is sent.
    pub(crate) fn ask_sent(&mut self, now: Duration) -> Result<(), String> {
        let rate = f64::from(self.plan.per_minute) / 60.0;
        let (level, at) = self.level;
        let level = (level - rate * (now - at).as_secs_f64()).max(0.0) + 1.0;
        self.level = (level, now);
        // Rounded, because the bucket counts in thousandths.
        let most = f64::from(self.plan.burst) + rate * TOKEN_VALID.as_secs_f64() + 0.01;
        if level > most {
            return Err(format!("{level:.2} asks at once, and at most {most:.2} may be"));
        }
        self.sent(now)
    }

    /// A call is sent, for an ask or an order.
    pub(crate) fn sent(&mut self, now: Duration) -> Result<(), String> {
        let mut pauses = self.pauses.iter();
        let pause = pauses.find(|(from, until)| *from + TOKEN_VALID < now && now < *until);
        if let Some((_, until)) = pause {
            let early = *until - now;
            return Err(format!("a call is sent {early:?} before the end of a Retry-After"));
        }
        let refused = self.refused.as_mut();
        let Some(refused) = refused.filter(|refused| refused.since + TOKEN_VALID < now) else {
            return Ok(());
        };
        if now < refused.next {
            let early = refused.next - now;
            return Err(format!("a call is sent {early:?} before the next try of a refused key"));
        }
        refused.tries += 1;
        let pause = HOUR.min(FIRST_TRY * (1 << refused.tries.min(8)));
        refused.next = now + pause - TOKEN_VALID;
        Ok(())
    }

    /// The service asked this process for a pause.
    pub(crate) fn pause_answered(&mut self, process: &Process, now: Duration, pause: Duration) {
        let process = process.clone();
        self.answered.push(Answered { process, at: now, pause, is_reported: false });
    }

    /// The store of this process failed when it was told of a pause, or of something else.
    pub(crate) fn report_failed(&mut self, process: &Process, now: Duration) {
        let answered = self.answered.iter_mut().filter(|answered| answered.process == *process);
        let answered = answered.filter(|answered| now < answered.at + REPORTED);
        answered.for_each(|answered| answered.is_reported = true);
    }

    /// Every pause was stored that the service asked a process for, unless the process or its store failed. The faults
    /// have ended.
    pub(crate) fn all_pauses_are_stored(&self) -> Result<(), String> {
        let mut answered = self.answered.iter();
        let lost =
            answered.find(|answered| !answered.is_reported && !answered.process.has_crashed());
        lost.map_or(Ok(()), |Answered { process, at, pause, .. }| {
            Err(format!("{process} was asked for a pause of {pause:?} at {at:?}, and stored none"))
        })
    }

    /// The application stored a pause.
    pub(crate) fn pause_stored(
        &mut self,
        process: &Process,
        pause: Duration,
        now: Duration,
    ) -> Result<(), String> {
        let answered = self.answered.iter_mut().rev();
        let mut answered =
            answered.filter(|answered| answered.process == *process && answered.pause == pause);
        let Some(last) = answered.next() else {
            return Err(format!("a pause of {pause:?} is stored, and no answer asked for it"));
        };
        self.pauses.push((now, last.at + pause));
        // Of several such answers, each is stored by itself.
        let mut unreported = std::iter::once(last).chain(answered);
        if let Some(answered) =
            unreported.find(|answered| !answered.is_reported && now < answered.at + REPORTED)
        {
            answered.is_reported = true;
        }
        Ok(())
    }

    /// Until when the service may be asked for nothing.
    pub(crate) fn paused_until(&self) -> Duration {
        // Also an answer that is not stored yet.
        let answered = self.answered.iter().map(|answered| answered.at + answered.pause);
        answered.max().unwrap_or_default()
    }

    /// The service refused the key, or forbade a job.
    pub(crate) fn key_refused(&mut self) {
        self.refusals += 1;
    }

    /// The application stored that the key is refused.
    pub(crate) fn refusal_stored(&mut self, now: Duration) -> Result<(), String> {
        if self.refusals == 0 {
            return Err("a refused key is stored, and no answer refused it".to_owned());
        }
        let first = Refused { since: now, tries: 0, next: now + FIRST_TRY };
        self.refused.get_or_insert(first);
        Ok(())
    }

    /// The application stored that the service accepted the key.
    pub(crate) fn key_accepted(&mut self) {
        self.refused = None;
    }

    /// A person lifted every pause.
    pub(crate) fn resumed(&mut self) {
        self.pauses.clear();
        self.refused = None;
    }
}
