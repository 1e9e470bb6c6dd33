//! The scripts: what each call of the inbox does with the tables of a store. Every store runs them.

#![expect(
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "only the stores of this project see them, and a store obeys every field and variant"
)]

mod claim;
mod entry;
mod export;
mod import;
mod order;
mod poll;
mod prune;
mod quarantine;
mod read;
mod restart;
mod tables;

use self::entry::{NamedJobs, intents_of, row_of};
pub use self::{
    entry::*, export::*, import::*, order::*, poll::*, prune::*, read::*, restart::*, tables::*,
};
use crate::Error;

/// What a script does to the size of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It adds this many bytes of bodies.
    Adds(usize),
    /// It hands out leases, which only the process may do that receives.
    Leases,
    /// It removes what is old, up to 8 MiB of bodies, and the files shrink.
    Prunes,
    /// Nothing of what it removes stays in the files.
    Erases,
}

impl Effect {
    /// The memory that a call takes while it waits, besides the bytes of bodies.
    const CALL_BYTES: usize = 512;

    /// How many bytes the script adds to a log, at most.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Adds(bytes) => Self::CALL_BYTES + bytes,
            Self::Leases | Self::Erases => Self::CALL_BYTES,
            Self::Prunes => crate::rules::MAX_BODY_BYTES,
        }
    }
}

/// A transaction of the inbox. It may run more than once: a store repeats it after a conflict with another transaction, or
/// when another script of its group fails.
pub trait Script: Send + Sync + 'static {
    /// What the caller gets.
    type Output: Send + 'static;

    /// What the script does to the store, so that a store can plan for it.
    fn effect(&self) -> Effect {
        Effect::Adds(0)
    }

    /// Whether a script that changes nothing may take long, so that a store lets no short one wait for it.
    fn may_take_long(&self) -> bool {
        false
    }

    /// Whether entries may be due by it that no delivery brought, so that the workers of other processes are to be woken.
    fn makes_due(&self) -> bool {
        false
    }

    /// Runs the script. What it has saved is committed if it returns `Ok`.
    fn run(
        &self,
        tables: &mut dyn Tables,
    ) -> impl Future<Output = Result<Self::Output, Error>> + Send;
}
