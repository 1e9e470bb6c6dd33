//! The connections, and the transactions on them.

mod plaintext;
mod tls;

mod hosts;

mod last_error;
mod server_check;

mod connect;

mod commit;

mod pool;

mod database;
mod transaction;

pub(crate) use database::Database;
pub(crate) use pool::{OpenCall, PoolKind};
pub(crate) use server_check::{SERVER, check_row};
pub(crate) use transaction::{Access, Blob, Statement, Transaction, Work, first};
