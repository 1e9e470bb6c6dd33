//! What the store's calls do in a transaction: load rows, apply the [rules](crate::rules), and write
//! back.

mod check;
mod claim;
mod ledger;
mod operator;
mod prune;
mod read;
mod record;
mod restart;
mod rows;
mod settle;
mod sql;

pub(super) use self::{
    check::{check, isolate, scan, separate_twins},
    claim::{claim, due_since, extend, release},
    ledger::{
        abandon, bucket, claim_asks, earlier_jobs, expect, import_bucket, import_intent,
        import_job, intend, intent, intents, job, jobs, ledger_counts, not_ordered, order_again,
        ordered, outcome_lost, prune_ledger, record, release_asks, report, settle_ask,
    },
    operator::{bury, forget, import, probe, requeue},
    prune::{PRUNE_BYTES, prune},
    read::{counts, excerpts, is_quick, list, show},
    restart::{follow, free_leases, store_clock, stored_clock},
    settle::{completion, settle},
};
