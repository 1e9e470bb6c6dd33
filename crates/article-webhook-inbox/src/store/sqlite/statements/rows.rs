//! Rows of the tables, and the values that they hold.

mod checksum;
mod value;

mod bit_repair;

mod bucket;
mod intent;
mod job;

mod body;
mod damaged_entry;
mod entry;

mod live_range;

pub(super) use self::{
    body::{
        SLOTS, bodies, excerpt, put_body, put_intent, slot_and_soundness, sound_bodies, stored_body,
    },
    bucket::{read_bucket, save_bucket},
    damaged_entry::DamagedEntry,
    entry::{
        AFTER_ENTRY, StoredRow, add, count_held, entry, find, find_id, is_sound, key_text, load,
        read, save,
    },
    intent::{
        DamagedIntent, StoredIntent, add_intent, intent_ids, is_intent_sound, read_intent,
        save_intent, write_intent_anew,
    },
    job::{
        DamagedJob, StoredJob, add_job, is_job_sound, job_ids, lane_number, read_job, save_job,
        write_job_anew,
    },
    live_range::LiveRange,
    value::{digest, lossy},
};
