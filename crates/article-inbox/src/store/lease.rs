use std::time::{Duration, SystemTime};

use crate::{Body, Key};

/// The fenced right to work on an entry: whoever claims the entry later gets another fence.
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
/// use article_inbox::store::{Claim, Lease};
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let lease = store.claim(claim).await?.claimed[0].lease;
/// let older = Lease { fence: lease.fence - 1, ..lease };
/// assert_eq!(store.extend(&[older, lease], claim.lease).await?, [lease]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The entry.
    pub id: i64,
    /// Grows with each claim of the entry.
    pub fence: i64,
}

/// What a worker asks for.
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
/// use article_inbox::store::Claim;
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// assert_eq!(store.claim(claim).await?.claimed.len(), 1);
/// assert_eq!(store.claim(claim).await?.claimed.len(), 0, "it is leased");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// At most so many, those that are buried included.
    pub limit: u32,
    /// For how long.
    pub lease: Duration,
    /// How many attempts an entry may have.
    pub attempts: u32,
}

/// What a worker gets.
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
/// use article_inbox::store::Claim;
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 0 };
/// let claims = store.claim(claim).await?;
/// assert_eq!((claims.claimed.len(), claims.buried), (0, vec![Key::article("job_1".parse()?)]));
/// assert_eq!((claims.expired, claims.next_due), (0, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claims {
    /// Leased to it.
    pub claimed: Vec<Claimed>,
    /// The entries that were buried instead.
    pub buried: Vec<Key>,
    /// Leases that had ended, of entries buried or claimed now.
    pub expired: u32,
    /// When the next entry is due: the smallest `at` among those waiting or leased that were not claimed now.
    pub next_due: Option<SystemTime>,
}

/// An entry under a lease.
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
/// use article_inbox::store::Claim;
///
/// let claim = Claim { limit: 1, lease: Duration::from_secs(60), attempts: 8 };
/// let claimed = &store.claim(claim).await?.claimed[0];
/// assert_eq!((claimed.key.job_id.as_str(), claimed.attempt, claimed.bodies.len()), ("job_1", 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// What proves it.
    pub lease: Lease,
    /// Its job and event.
    pub key: Key,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// When its first body was stored.
    pub received_at: SystemTime,
    /// Its bodies, in the order they came.
    pub bodies: Vec<Body>,
}
