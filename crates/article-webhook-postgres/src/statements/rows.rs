//! Rows of the tables as the types of the inbox, and back.

mod batch;
mod body;
mod entry;

pub(super) use batch::Batch;
pub(super) use body::{KnownIn, bodies, body, known_bodies, new_body, put_body, put_intent};
pub(super) use entry::{
    Damage, JOB_ID, StoredRow, add, count_in, entry, find, find_all, lock, lock_free_key, lock_key,
    name_of, or_damaged, remove, save, save_all, stored,
};
