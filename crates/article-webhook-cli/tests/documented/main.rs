//! The pages of this repository, followed: each command of a page runs, in the page's order, and ends as the page says.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod fields;
mod follow;
mod names;
mod pages;
mod stage;

#[allow(dead_code, reason = "the tests of the tool use more of it")]
#[path = "../cli/running.rs"]
mod running;

#[cfg(feature = "postgres")]
#[allow(dead_code, reason = "the store's tests use more of it")]
#[allow(clippy::print_stderr, reason = "what is skipped is reported")]
#[path = "../../../article-webhook-postgres/tests/common/server.rs"]
mod postgres_server;

/// How long something may take that takes no time on an idle machine. All pages are followed at once.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);
