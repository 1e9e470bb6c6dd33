//! The interface between the inbox, its stores and the collector. It is hidden, and may change with each version.

mod findings;
mod maps;
mod scripted;
mod store_trait;

pub(crate) mod memory;
#[cfg(feature = "sqlite")]
pub(crate) mod sqlite;

pub use findings::{Findings, LOG};
pub use store_trait::{Pending, Store};

/// What a store runs the scripts with.
pub mod tables {
    pub use super::scripted::Run;
    pub use crate::rules::{
        BodyBytes, BodyRow, Change, EntryRows, JobRows, MIN_QUARANTINE_COST, Tracked,
    };

    /// How rows are stored.
    pub mod codec {
        pub use crate::codec::*;
    }

    /// What each call does.
    pub mod script {
        pub use crate::script::*;
    }
}

pub use crate::call::{
    ApiAnswer, Arrival, BucketEvent, BucketSettings, CallRefused, Claim, Claimed, Claims,
    DELIVERY_PERIOD, Events, Expect, Intended, IntentLease, Lease, MILLIS_PER_HOUR, Outcome, Pause,
    Poll, PollClaim, PollLease, PollOutcome, PollSettled, Polls, Quarantine, Quarantined, Recorded,
    Settled, StoreHealth,
};
pub use crate::entry::title_of;
pub use crate::progress::Progress;
pub use crate::rules::{
    Answered, ArticleEntry, BodyLine, BodyRow, BodyWrite, Bucket, ClaimDecision, Claiming,
    EntryLine, ExportLine, IntentLine, IntentRow, JobLine, JobRow, KnownBody, NotOrdered,
    Recording, Row,
};
pub use crate::script::{Export, Merge};
pub use crate::timestamp::{from_millis, to_millis};
