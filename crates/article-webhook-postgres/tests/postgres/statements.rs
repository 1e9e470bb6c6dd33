//! What the statements find, leave and lock.

mod damage;
mod fences;
mod plans;
mod write_skew;
