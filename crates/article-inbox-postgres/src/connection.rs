//! The connections, and the transactions on them.

mod tls;

mod connect;

mod pool;

mod transaction;

pub(crate) use pool::Lane;
pub(crate) use transaction::{Database, Length, Transaction, Work, first};
