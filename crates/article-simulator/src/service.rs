mod account;
mod agenda;
mod answer;
mod api;
mod attempt;
mod brand;
mod configure;
mod content;
mod delivery;
mod job;
mod order;
mod pipeline;
mod problem;
mod push;
mod schedule;
mod settings;
mod state;

pub use attempt::Attempt;
pub(crate) use attempt::AttemptLog;
pub use brand::{InvalidTarget, Target};
pub use job::{Job, JobState};
pub use pipeline::Step;
pub use push::{Answer, Manner, Outcome, Push};
pub use settings::{Settings, Tenant};
pub use state::Service;

pub(crate) use answer::{latency, unreadable};
