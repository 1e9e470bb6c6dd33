//! The pages: what is read for each, and its HTML. Everything that came from outside is escaped: for HTML by maud, and where a line is
//! expected also against characters that hide or reorder text.

pub(super) mod components;
mod difference;
mod json;
mod time_line;

mod layout;

pub(super) mod missed;
mod overview;
mod panel;

pub(super) mod body;
pub(super) mod entry;
pub(super) mod health;
pub(super) mod ledger;
pub(super) mod list;
pub(super) mod refused_deliveries;
