//! The stores of this crate, held to the contract.

#![allow(clippy::unwrap_used)] // a store that cannot be made fails its tests

mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::time::{Duration, SystemTime};

use article_webhook_inbox::Clock;

/// A clock that stands still at a time in the recent past.
fn stepped() -> Clock {
    Clock::stepped(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000))
}
