//! Rows of the tables, and the values that they hold.

mod checksum;
mod value;

mod body;
mod damaged_entry;
mod entry;

pub(super) use self::{
    body::{SLOTS, bodies, put_body, put_intent, slot_and_soundness, sound_bodies, stored_body},
    damaged_entry::DamagedEntry,
    entry::{
        AFTER_ENTRY, StoredRow, add, count_held, entry, find, find_id, is_sound, key_text, load,
        read, save,
    },
    value::{digest, lossy},
};
