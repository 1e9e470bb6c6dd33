//! Bodies of requests: their deadline, and the memory that all of them may use.

mod budget;
mod request_body;

pub(crate) use budget::{Budget, BudgetReservation};
pub use request_body::Body;
