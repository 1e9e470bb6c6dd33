use std::{io, time::Duration};

/// The settings of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) head_deadline: Duration,
    pub(crate) idle_deadline: Duration,
    pub(crate) max_connections: usize,
    /// How long the server goes on accepting after the shutdown began.
    pub(crate) shutdown_delay: Duration,
    /// The path that is answered 503 meanwhile. No path is empty.
    pub(crate) ready_path: &'static str,
    pub(crate) shutdown_grace: Duration,
}

impl Settings {
    /// How long a peer may leave a response unread that is not a refusal. This is not a setting: responses to
    /// deliveries are so short that only a hostile or broken peer does not read them.
    pub(crate) const WRITE_STALL: Duration = Duration::from_secs(10);

    /// The longest deadline. An `Instant` cannot hold every sum with a `Duration`.
    pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

    /// The settings while other connections wait: an idle one has as long as one without a head.
    pub(crate) fn of_a_full_server(self) -> Self {
        Self { idle_deadline: self.idle_deadline.min(self.head_deadline), ..self }
    }

    /// The settings, if a server can work with them.
    pub(crate) fn validated(self) -> io::Result<Self> {
        let is_valid = |deadline: Duration| !deadline.is_zero() && deadline <= Self::LONGEST;
        let message = if !is_valid(self.head_deadline) {
            "head_deadline must be over 0 s and at most 365 days"
        } else if !is_valid(self.idle_deadline) {
            "idle_deadline must be over 0 s and at most 365 days"
        } else if self.max_connections == 0 {
            "max_connections must be at least 1"
        } else {
            return Ok(self);
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            head_deadline: Duration::from_secs(3),
            // Over the 60 s after which nginx and most load balancers end an idle connection themselves.
            idle_deadline: Duration::from_secs(75),
            max_connections: 4096,
            shutdown_delay: Duration::ZERO,
            ready_path: "",
            shutdown_grace: Duration::from_secs(25),
        }
    }
}
