//! The state of the service, and what happens in it as time passes.

mod event_queue;
mod scheduling;
mod settings;
mod state;

pub use settings::Settings;
pub use state::Service;
