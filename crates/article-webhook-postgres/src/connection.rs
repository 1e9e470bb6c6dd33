//! The connections, and the transactions on them.

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
pub(crate) use pool::{Lane, OpenCall};
pub(crate) use server_check::{SERVER, judged};
pub(crate) use transaction::{Access, Blob, Statement, Transaction, Work, first};
