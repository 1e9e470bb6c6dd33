//! An application orders articles under intents, and polls those that do not come. It is killed, and its power is cut.

mod api;
pub(crate) mod application;
mod customers;
pub(crate) mod cuts;
pub(crate) mod kills;
mod ledger;
