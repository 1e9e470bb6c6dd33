//! What the statements find, leave and lock.

mod completion;
mod damage;
mod fences;
mod plans;
mod skew;
mod turns;
