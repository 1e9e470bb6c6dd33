//! What an answer of the API means for the job that was asked for, and for the asks that follow. Nothing here waits,
//! reads a clock or stores anything.

mod answer;
mod began;
mod key_watch;

pub(crate) use answer::{Asked, Meaning, NoAnswer, accepts_the_key, pause_of};
pub(crate) use began::Began;
pub(crate) use key_watch::KeyWatch;
