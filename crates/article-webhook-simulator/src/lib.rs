#![doc = include_str!("../README.md")]

pub mod articles;
mod seeded_rng;

mod pipeline;

mod faults;
mod response;

mod accounts;

mod jobs;

mod deliveries;

mod service;

mod api;

mod simulator;

pub use accounts::{InvalidTarget, Target, Tenant};
pub use api::openapi;
pub use deliveries::{Answer, Attempt, Outcome, Push, SendMode, Sender, Sending, pause_after};
pub use faults::{Fault, Rule};
pub use jobs::{Job, JobState};
pub use pipeline::Step;
pub use service::{Service, Settings};
pub use simulator::{CallError, Clock, Simulator, SimulatorBuilder, StartError};
