//! What the ledger does in a transaction.
//!
//! All transactions lock in one order, so that none waits for another that waits for it: the stripes of job ids, jobs, entries
//! with their bodies, intents, and the bucket last. Several of a kind are locked in the order of their keys, or what others
//! have locked is left (`SKIP LOCKED`).

mod rows;

mod job_locks;

mod bucket;
mod intents;
mod jobs;

mod ask;
mod import;
mod locked_jobs;
mod order;
mod prune;
mod read;

pub(crate) use ask::{claim_asks, release_asks, settle_ask};
pub(super) use bucket::damage_of_bucket;
pub(crate) use bucket::{import_bucket, report};
pub(crate) use import::{import_intent, import_job};
pub(super) use job_locks::share;
pub(crate) use jobs::expect;
pub(super) use jobs::{add_pruned, forget, is_tombstone, lock_of, lock_of_entry, sync_with_entry};
pub(super) use locked_jobs::Jobs;
pub(crate) use order::{abandon, intend, not_ordered, order_again, ordered, outcome_lost};
pub(crate) use prune::prune_ledger;
pub(crate) use read::{bucket, intent, intents, job, jobs, ledger_counts};
pub(super) use rows::{SCAN_INTENTS, SCAN_JOBS, damage_of_intent, damage_of_job};
