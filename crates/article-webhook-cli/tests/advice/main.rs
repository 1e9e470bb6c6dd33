//! The steps that a refusal names, taken one by one: they lead to a start, and lose nothing without a word.
//!
//! Each test makes the situation, asserts the text, and does what the text says. What each refusal of the store says in full, and
//! the steps that are not here, is in the tests `sqlite` of the inbox.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod every_fix;
mod fields;
mod files;
mod jobs;
mod stage;
mod starts;
mod steps;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../cli/sample.rs"]
mod sample;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../cli/server.rs"]
mod server;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../cli/tool.rs"]
mod tool;
