//! The state of the service, and its changes over time.

mod call;
mod event_queue;
mod scheduling;
mod settings;
mod state;

pub use call::Call;
pub use settings::Settings;
pub use state::Service;
