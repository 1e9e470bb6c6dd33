//! The ledger's calls in a transaction, and what the other calls tell the ledger.

mod bucket;
mod intents;
mod jobs;

mod arrival;
mod ask;
mod damage;
mod import;
mod legacy;
mod order;
mod prune;
mod read;
mod restart;

pub(in crate::store::sqlite) use self::{
    arrival::record,
    ask::{claim_asks, release_asks, settle_ask},
    bucket::{import_bucket, report},
    import::{import_intent, import_job},
    jobs::expect,
    legacy::earlier_jobs,
    order::{abandon, intend, not_ordered, order_again, ordered, outcome_lost},
    prune::prune_ledger,
    read::{bucket, intent, intents, job, jobs, ledger_counts},
};
pub(super) use self::{
    damage::{LedgerSuspects, mend, scan},
    jobs::{add_pruned, forget, is_tombstone, sync_with_entry},
    restart::{follow_ledger, restart_ledger},
};
