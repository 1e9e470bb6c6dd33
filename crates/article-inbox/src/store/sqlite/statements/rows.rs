//! Rows of the tables, and the values that they hold.

mod body;
mod checksum;
mod entry;
mod value;

pub(super) use self::{
    body::{SLOTS, bodies, put_body, put_intent},
    entry::{StoredRow, add, count_held, entry, find, key_text, load, save, stored},
    value::{bytes, digest, lossy, text_in},
};
