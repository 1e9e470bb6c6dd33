//! What the table is held against.

pub(crate) mod actix_web;
pub(crate) mod axum;
pub(crate) mod server;
pub(crate) mod tower;
