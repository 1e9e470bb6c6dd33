//! What the ledger does in a transaction. Where several rows change together, jobs are locked before entries, entries
//! before intents, and the bucket last.

mod rows;

mod bucket;
mod intents;
mod jobs;

mod arrival;
mod ask;
mod keep;
mod order;
mod read;

pub(super) use arrival::Jobs;
pub(crate) use ask::{claim_asks, release_asks, settle_ask};
pub(crate) use bucket::{import_bucket, report};
pub(crate) use jobs::expect;
pub(super) use jobs::{add_pruned, follow, forget};
pub(crate) use keep::{import_intent, import_job, prune_ledger};
pub(crate) use order::{abandon, intend, not_ordered, order_again, ordered, outcome_lost};
pub(crate) use read::{bucket, intent, intents, job, jobs, ledger_counts};
