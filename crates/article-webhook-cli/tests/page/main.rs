//! The page, asked over real sockets as a browser asks, and as what must not get in.

#![allow(clippy::unwrap_used)] // an unwrap in a test is an assertion

mod access;
mod answers;
mod client;
mod long_list;
mod overview;
mod running;

#[path = "../cli/deliver.rs"]
mod deliver;

#[allow(dead_code, reason = "the commands' tests use more of it")]
#[path = "../cli/running.rs"]
mod process;

#[allow(dead_code, reason = "the commands' tests use more of it")]
#[path = "../cli/sample.rs"]
mod sample;

#[allow(dead_code, reason = "the commands' tests use more of it")]
#[path = "../cli/tool.rs"]
mod tool;

/// How long something may take that takes no time on an idle machine.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
