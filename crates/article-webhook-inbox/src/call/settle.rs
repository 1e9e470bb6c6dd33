use std::time::Duration;

/// The outcome of an attempt: what becomes of its entry.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::{State, store::{Claim, ClaimDecision, Claiming, Events, Outcome, Row}};
///
/// let now = SystemTime::UNIX_EPOCH;
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8, running: 0, events: Events::All, retries_first: false };
/// let mut entry = Row::new(now);
/// let Some(ClaimDecision::Leased { lease, .. }) = Claiming::new(claim, now).decide(7, &mut entry) else {
///     panic!("attempts are left")
/// };
///
/// let retry = Outcome::Retry { after: Duration::from_secs(10), cause: "the blog is down".into() };
/// entry.settle(lease, &retry, 1, now);
/// assert_eq!((entry.state, entry.at), (State::Waiting, now + Duration::from_secs(10)));
/// assert_eq!(entry.cause.as_deref(), Some("the blog is down"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store that forgets an outcome must not compile")]
pub enum Outcome {
    /// Done now, without a cause.
    Done,
    /// Waiting, and due after a pause.
    Retry {
        /// The pause.
        after: Duration,
        /// Why the attempt failed.
        cause: String,
    },
    /// Dead now.
    Dead {
        /// Why the entry was given up.
        cause: String,
    },
    /// Unhandled now, because no body can be passed to the handler. The attempt does not count. If bodies were
    /// added since the claim, the entry waits instead, due now, without a cause.
    Unhandled {
        /// How many bodies the worker checked.
        seen: usize,
        /// Why no body can be passed to the handler.
        cause: String,
    },
    /// Corrupt now, under the same rules as `Unhandled`.
    Corrupt {
        /// How many bodies the worker checked.
        seen: usize,
        /// What is wrong with the bodies.
        cause: String,
    },
    /// Waiting, due now, because the worker stops. The attempt does not count, and the cause stays.
    Released,
    /// Waiting, and due after a pause, because the handler asked for it. The attempt does not count, and the cause
    /// stays.
    Snoozed {
        /// The pause.
        after: Duration,
    },
}

/// Whether an outcome was stored.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::store::{Claim, ClaimDecision, Claiming, Events, Outcome, Row, Settled};
///
/// let now = SystemTime::now();
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8, running: 0, events: Events::All, retries_first: false };
/// let mut entry = Row::new(now);
/// let Some(ClaimDecision::Leased { lease, .. }) = Claiming::new(claim, now).decide(7, &mut entry) else {
///     panic!("attempts are left")
/// };
/// assert_eq!(entry.settle(lease, &Outcome::Released, 1, now), Settled::Settled);
/// assert_eq!(entry.settle(lease, &Outcome::Done, 1, now), Settled::LostLease);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a worker handles every result")]
pub enum Settled {
    /// The outcome was stored.
    Settled,
    /// The entry is done under this lease already, by an outcome or by the application's own transaction.
    AlreadyDone,
    /// The lease no longer held. Nothing changed.
    LostLease,
}
