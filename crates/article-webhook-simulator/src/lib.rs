#![doc = include_str!("../README.md")]

mod seeded_rng;
mod status_number;

mod pipeline;

mod faults;
mod response;

mod accounts;

mod jobs;

mod deliveries;

mod service;

mod api;

mod simulator;

#[doc(no_inline)]
pub use article_webhook::StatusCode;

pub use accounts::{InvalidTarget, Target, Tenant};
pub use deliveries::{
    Attempt, DeliveryAnswer, DeliveryOutcome, Push, SendMode, Sender, Sending, pause_after,
};
pub use faults::{Fault, Rule};
pub use jobs::{SimulatedJob, SimulatedJobState};
pub use pipeline::Step;
pub use service::{Call, Service, Settings};
pub use simulator::{CallError, Simulator, SimulatorBuilder, SimulatorClock, StartError};
