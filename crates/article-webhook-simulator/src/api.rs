//! The calls of the API, as methods of [`Service`](crate::Service), and their description.

mod calls;
mod configure;
mod faults;
mod fields;
mod openapi;
mod order;

pub(crate) use fields::unreadable_body;
pub use openapi::openapi;
