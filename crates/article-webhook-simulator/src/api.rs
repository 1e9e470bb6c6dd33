//! The calls of the API, as methods of [`Service`](crate::Service).

mod calls;
mod configure;
mod faults;
mod fields;
mod order;

pub(crate) use fields::unreadable_body;
