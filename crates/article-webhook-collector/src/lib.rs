#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod call_start;
mod catch_panic;
mod schedule;
mod webhook_urls;

mod api;

mod settings;

mod classify;

mod telemetry;

mod shared;

mod order;
mod polling;

mod collector;

// What every application that orders needs.
pub use article_webhook_client::{ApiKey, Client, NewArticle};

pub use api::{Api, Calling};
pub use collector::{
    BackfillPlan, BackfillStopped, Backfilled, Collector, CollectorBuilder, CollectorHealth,
};
pub use order::OrderOutcome;
pub use schedule::Schedule;
#[cfg(feature = "metrics")]
pub use telemetry::metric;
