//! What an inbox answers, keeps and shows.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod door;
mod export;
mod export_everything;
mod export_ledger;
#[path = "../common/faulty_store.rs"]
mod faulty;
mod health;
mod operator;
mod refusals;
mod replies;
mod scene;
