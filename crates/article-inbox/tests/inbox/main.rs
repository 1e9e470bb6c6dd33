//! What an inbox answers, keeps and shows.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion

mod export;
#[path = "../worker/faulty.rs"]
mod faulty;
mod health;
mod hints;
mod operations;
mod replies;
mod scene;
