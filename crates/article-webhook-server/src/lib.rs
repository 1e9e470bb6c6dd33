#![doc = include_str!("../README.md")]

mod answer;
mod app;
mod body;
mod budget;
mod connection;
mod crowd;
mod door;
mod exchange;
mod limits;
mod linger;
mod progress;
mod response;
mod seat;
mod server;
mod socket;

pub use body::Body;
pub use server::Server;
