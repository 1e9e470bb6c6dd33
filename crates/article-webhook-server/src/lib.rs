#![doc = include_str!("../README.md")]

mod settings;

mod slot;

mod log;

mod body;

mod exchange;

mod connection;

mod listener;

mod server;

pub use body::ServerBody;
pub use server::{Server, ServerBuilder};
