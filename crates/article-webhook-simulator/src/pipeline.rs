//! The steps that a job goes through, and when.

mod step;
mod timetable;

pub use step::Step;
pub(crate) use timetable::Timetable;
