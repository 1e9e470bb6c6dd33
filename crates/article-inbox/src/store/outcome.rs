use std::time::Duration;

/// What becomes of an entry after an attempt.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::Arrival};
/// # let store = MemoryStore::new(Clock::system());
/// # let arrival = |bytes: &'static str| Arrival {
/// #     key: Key::article("job_1".parse().unwrap()), source: Source::Api, target: "default".into(), intent: None,
/// #     digest: Digest::of(bytes.as_bytes()), bytes: bytes.into(),
/// # };
/// # store.record(arrival("{}")).await?;
/// use std::time::Duration;
/// use article_inbox::{State, store::{Claim, Outcome}};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// let retry = Outcome::Retry { after: Duration::ZERO, cause: "the blog is down".into() };
/// store.settle(lease, retry).await?;
/// assert_eq!(store.counts().await?.of(State::Waiting), 1);
///
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// store.settle(lease, Outcome::Dead { cause: "no such blog".into() }).await?;
/// assert_eq!(store.counts().await?.of(State::Dead), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    // Exhaustive: a store that forgets one of them should not compile.
    /// Done, since now. No cause.
    Done,
    /// Waiting, due so long from now.
    Retry {
        /// The pause.
        after: Duration,
        /// Why it failed.
        cause: String,
    },
    /// Dead, since now.
    Dead {
        /// Why it was given up.
        cause: String,
    },
    /// Nothing to hand to the handler: unhandled, since now, and the attempt does not count. When bodies were added
    /// to the entry since the claim, it waits instead, due now, without cause.
    Unhandled {
        /// How many bodies were looked at.
        seen: usize,
        /// Why none of them will do.
        cause: String,
    },
    /// As `Unhandled`, but corrupt.
    Corrupt {
        /// How many bodies were looked at.
        seen: usize,
        /// What is wrong with them.
        cause: String,
    },
    /// Waiting, due now, and the attempt does not count: the worker stops. The cause stays as it was.
    Released,
}

/// Whether an outcome was kept.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use article_inbox::{Clock, Digest, Key, MemoryStore, Source, Store, store::Arrival};
/// # let store = MemoryStore::new(Clock::system());
/// # let arrival = |bytes: &'static str| Arrival {
/// #     key: Key::article("job_1".parse().unwrap()), source: Source::Api, target: "default".into(), intent: None,
/// #     digest: Digest::of(bytes.as_bytes()), bytes: bytes.into(),
/// # };
/// # store.record(arrival("{}")).await?;
/// use std::time::Duration;
/// use article_inbox::store::{Claim, Outcome, Settled};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// assert_eq!(store.settle(lease, Outcome::Released).await?, Settled::Settled);
/// assert_eq!(store.settle(lease, Outcome::Done).await?, Settled::LostLease);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    // Exhaustive: whoever settles must know all of them.
    /// It was.
    Settled,
    /// The application had completed the entry itself, under this lease.
    AlreadyDone,
    /// The lease no longer held, and nothing changed.
    LostLease,
}
