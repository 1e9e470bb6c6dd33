//! The connections, and the transactions on them.

mod tls;

mod hosts;

mod row;

mod last_error;
mod server_check;

mod connect;

mod commit;

mod pool;

mod database;
mod transaction;

pub(crate) use database::Database;
pub(crate) use pool::{Lane, OpenCall};
pub(crate) use row::first;
pub(crate) use server_check::{SERVER, judged};
pub(crate) use transaction::{IDLE_MILLIS, Length, Parameter, Transaction, Work};
