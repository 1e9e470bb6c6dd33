//! The page, asked over real sockets as a browser asks, and as what must not get in.

mod access;
mod answers;
mod client;
mod long_list;
mod picture;
mod picture_age;
mod running;

#[path = "../cli/sample.rs"]
mod sample;
