use std::time::Duration;

/// What a server was set to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) head_deadline: Duration,
    pub(crate) body_deadline: Duration,
    pub(crate) max_connections: usize,
    pub(crate) body_budget: usize,
    pub(crate) shutdown_grace: Duration,
}

impl Limits {
    /// For how long a peer may leave an answer unread. No setting: the answers to deliveries are so
    /// short that a peer must refuse them on purpose.
    pub(crate) const WRITE_STALL: Duration = Duration::from_secs(10);

    /// Longer deadlines are cut to this: the clock cannot add just any duration to an instant.
    pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_deadline: Duration::from_secs(5),
            body_deadline: Duration::from_secs(10),
            max_connections: 4096,
            body_budget: 64 << 20,
            shutdown_grace: Duration::from_secs(25),
        }
    }
}
