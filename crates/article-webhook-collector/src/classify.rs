//! What an answer of the API means for the job that was polled, and for the polls that follow. Nothing here waits,
//! reads a clock or stores anything.

mod key_watch;
mod response;

pub(crate) use key_watch::KeyWatch;
pub(crate) use response::{Meaning, NoAnswer, Polled, accepts_the_key, pause_of};
