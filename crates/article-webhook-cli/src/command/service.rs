//! The four calls of the service.

pub(super) mod brand;
pub(super) mod get;
pub(super) mod order;
pub(super) mod targets;
