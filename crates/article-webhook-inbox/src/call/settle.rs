use std::time::Duration;

/// The outcome of an attempt: what becomes of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store that erases an outcome must not compile")]
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
