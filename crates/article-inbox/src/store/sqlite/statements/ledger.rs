//! The ledger's calls in a transaction, and what the other calls tell the ledger.

mod bucket;
mod intents;
mod jobs;

mod arrival;
mod ask;
mod clock;
mod damage;
mod earlier;
mod keep;
mod order;
mod read;

pub(in crate::store::sqlite) use self::{
    arrival::record,
    ask::{claim_asks, release_asks, settle_ask},
    bucket::{import_bucket, report},
    earlier::earlier_jobs,
    jobs::expect,
    keep::{import_intent, import_job, prune_ledger},
    order::{abandon, intend, not_ordered, order_again, ordered, outcome_lost},
    read::{bucket, intent, intents, job, jobs, ledger_counts},
};
pub(super) use self::{
    clock::{follow_ledger, restart_ledger},
    damage::{LedgerSuspects, mend, scan},
    jobs::{add_pruned, follow, forget, is_tombstone},
};
