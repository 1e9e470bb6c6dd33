//! For authors of stores: the trait [`Store`], what its calls take and return, and the rules as pure functions on a
//! [`Row`].
//!
//! Applications use [`Inbox`](crate::Inbox) and do not need this module.
//!
//! A store of your own loads a [`Row`], calls one of its transitions, and writes it back. The crate
//! `article-inbox-contract` tests it against each sentence of the documentation of [`Store`].

mod interface;

pub(crate) mod memory;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;

pub use interface::{Pending, Store};

pub use crate::call::{
    Arrival, Claim, Claimed, Claims, Lease, Outcome, Recorded, Settled, StoreHealth,
};
pub use crate::rules::{BodyWrite, ClaimDecision, Claiming, KnownBody, Recording, Row};
pub use crate::timestamp::{from_millis, to_millis};
