//! Rows of the tables, and the values that they hold.

mod body;
mod checksum;
mod entry;
mod value;

pub(super) use self::{
    body::{SLOTS, bodies, put_body},
    entry::{StoredRow, add, count_held, entry, find, key_text, load, save, stored},
    value::{bytes, digest, text_in},
};
