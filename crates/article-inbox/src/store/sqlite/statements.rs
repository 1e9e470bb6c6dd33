//! What the store's calls do in a transaction: load rows, apply the [rules](crate::rules), and write
//! back.

mod check;
mod claim;
mod hint;
mod import;
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
    claim::{claim, extend},
    hint::{hint, hints},
    import::import,
    operator::{bury, forget, probe, requeue},
    prune::{PRUNE_BYTES, prune},
    read::{counts, due_since, list, show},
    record::record,
    restart::{follow, free_leases, store_clock, stored_clock},
    settle::{completion, settle},
};
