//! Rows of the tables as the types of the inbox, and back.

mod body;
mod entry;

pub(super) use body::{KnownIn, bodies, known_bodies, new_body, put_body, put_intent};
pub(super) use entry::{
    Columns, StoredRow, add, entry, find, lock, lock_key, remove, save, stored,
};
