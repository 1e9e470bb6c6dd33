#![doc = include_str!("../README.md")]

pub mod articles;
mod clock;
mod draw;
mod openapi;

mod pipeline;

mod faults;
mod response;

mod accounts;

mod jobs;

mod deliveries;

mod sending;
mod service;

mod api;

mod simulator;

pub use accounts::{InvalidTarget, Target, Tenant};
pub use clock::Clock;
pub use deliveries::{Answer, Attempt, Outcome, Push, SendMode};
pub use faults::{Fault, Rule};
pub use jobs::{Job, JobState};
pub use openapi::openapi;
pub use pipeline::Step;
pub use sending::{Sender, Sending};
pub use service::{Service, Settings};
pub use simulator::{CallError, Simulator, SimulatorBuilder, StartError};
