//! What each call does in its transaction. The rules decide what becomes of an entry: a row is loaded, changed and saved.

mod sql;

mod rows;

mod record_body;

mod ledger;

mod check;
mod claim;
mod notify;
mod operator;
mod prune;
mod read;
mod record;
mod settle;

pub(crate) use check::{Damaged, check, isolate, probe};
pub(crate) use claim::{ByKind, Found, Scan, claim, claim_fast, extend, release, unreadable};
pub(crate) use ledger::{
    abandon, bucket, claim_asks, expect, import_bucket, import_intent, import_job, intend, intent,
    intents, job, jobs, ledger_counts, not_ordered, order_again, ordered, outcome_lost,
    prune_ledger, release_asks, report, settle_ask,
};
pub(crate) use notify::{CHANNEL, Notification, Sent, notify};
pub(crate) use operator::{bury, forget, import, pause, paused_since, requeue, resume};
pub(crate) use prune::prune;
pub(crate) use read::{counts, due_since, list, show};
pub(crate) use record::{record, record_new, record_one};
pub(crate) use settle::{complete, completion, settle, settle_all};
