#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod caught;
mod schedule;
mod webhook_urls;

mod api;

mod settings;

mod meaning;

mod telemetry;

mod shared;

mod asking;
mod order;

mod collector;

pub use api::{Api, Calling};
pub use collector::{
    BackfillPlan, BackfillStopped, Backfilled, Collector, CollectorBuilder, CollectorHealth,
};
pub use order::OrderOutcome;
pub use schedule::Schedule;
#[cfg(feature = "metrics")]
pub use telemetry::metric;
