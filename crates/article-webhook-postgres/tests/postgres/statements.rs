//! What the statements find, leave and lock.

mod completion;
mod damage;
mod fences;
mod pages;
mod plans;
mod turns;
mod write_skew;
