//! The tool as a process: what it prints, how it ends, and what it never shows.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod busy;
mod collecting;
mod deliver;
mod demo;
mod doctor;
mod echoed;
mod examples;
mod forwarding;
mod forwarding_order;
mod free_port;
mod listening;
mod odd_answers;
mod pipes;
#[cfg(feature = "postgres")]
mod postgres;
mod refused;
mod running;
mod sample;
mod server;
mod signals;
#[cfg(feature = "postgres")]
mod take_over;
mod taking_over;
mod targets;
mod terminal;
mod tool;
mod unread;

#[cfg(feature = "postgres")]
#[allow(dead_code, reason = "the store's tests use more of it")]
#[allow(clippy::print_stderr, reason = "what is skipped is reported")]
#[path = "../../../article-webhook-postgres/tests/common/server.rs"]
mod postgres_server;

/// How long something may take that takes no time on an idle machine.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
