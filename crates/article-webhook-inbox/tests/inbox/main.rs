//! What an inbox answers, keeps and shows.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod export;
mod export_ledger;
mod export_whole;
mod health;
mod operator;
mod refusals;
mod replies;
mod scene;
#[cfg(all(feature = "signal", unix))]
mod stop_signal;
#[allow(dead_code)] // `worker` uses all of it
#[path = "../worker/scene.rs"]
mod worker_scene;
