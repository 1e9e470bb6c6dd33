//! The HTML. Everything that came from outside is escaped: for HTML by maud, and where a line is expected also against
//! characters that hide or reorder text.

mod components;
mod difference;
mod json;
mod time_line;

mod layout;

mod entry;
mod health;
mod ledger;
mod overview;

mod list;
mod panel;
mod refusal;
mod refused_deliveries;

pub(super) use components::entry_path;
pub(super) use entry::{Shown, entry, gone};
pub(super) use health::{Health, health};
pub(super) use ledger::{Jobs, ledger};
pub(super) use list::{Listed, list};
pub(super) use refusal::{
    found_nothing, not_done, not_taken, opening, refused, store_failed, too_many,
};
pub(super) use refused_deliveries::{Refused, refused_deliveries};
