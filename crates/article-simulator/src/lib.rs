#![doc = include_str!("../README.md")]

pub mod articles;
mod clock;
mod draw;
mod fault;
mod openapi;
mod sender;
mod service;
mod simulator;

pub use clock::Clock;
pub use fault::{Fault, Rule};
pub use openapi::openapi;
pub use sender::{Sender, Sending};
pub use service::{
    Answer, Attempt, InvalidTarget, Job, JobState, Manner, Outcome, Push, Service, Settings, Step,
    Target, Tenant,
};
pub use simulator::{CallError, Simulator, SimulatorBuilder, StartError};
