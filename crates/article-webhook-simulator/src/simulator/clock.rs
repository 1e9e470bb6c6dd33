use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The time of a [`Simulator`](crate::Simulator), counted from its start.
///
/// Jobs, retries and the rate limit follow this clock. Timeouts, slow senders and slow responses take real time,
/// because the peer is real.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::time::Duration;
/// use article_webhook_simulator::{SimulatorClock, Simulator};
///
/// let simulator = Simulator::builder().clock(SimulatorClock::stepped()).start().await?;
/// assert_eq!(simulator.now(), Duration::ZERO); // it stands still
///
/// simulator.advance(Duration::from_secs(24 * 3600)).await; // until it is advanced
/// assert_eq!(simulator.now(), Duration::from_secs(24 * 3600));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SimulatorClock(Kind);

/// Every clock stops after a hundred years, before its 64 bits of nanoseconds overflow.
pub(crate) const END: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

#[derive(Debug)]
enum Kind {
    Running { start: Instant, times: u32 },
    Stepped(Mutex<Duration>),
}

impl SimulatorClock {
    /// Real time.
    #[must_use]
    pub fn real() -> Self {
        Self::accelerated(1)
    }

    /// `times` as fast as real time. A simulator does not start with a clock that is 0 times as fast.
    #[must_use]
    pub fn accelerated(times: u32) -> Self {
        Self(Kind::Running { start: Instant::now(), times })
    }

    /// Stands still until [`Simulator::advance`](crate::Simulator::advance) moves it.
    #[must_use]
    pub fn stepped() -> Self {
        Self(Kind::Stepped(Mutex::new(Duration::ZERO)))
    }

    /// The clock at its start. `None` if it would never move.
    pub(crate) fn started(self) -> Option<Self> {
        match self.0 {
            Kind::Running { times: 0, .. } => None,
            Kind::Running { times, .. } => Some(Self::accelerated(times)),
            Kind::Stepped(_) => Some(Self::stepped()),
        }
    }

    /// The simulated time since the start.
    pub(crate) fn now(&self) -> Duration {
        match &self.0 {
            Kind::Running { start, times } => start.elapsed().saturating_mul(*times).min(END),
            Kind::Stepped(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// The real time until the simulated time `at`. `None` for a stepped clock, which does not move by itself.
    pub(crate) fn real_time_until(&self, at: Duration) -> Option<Duration> {
        match &self.0 {
            Kind::Running { times, .. } => Some(at.saturating_sub(self.now()) / *times),
            Kind::Stepped(_) => None,
        }
    }

    pub(crate) fn is_stepped(&self) -> bool {
        matches!(self.0, Kind::Stepped(_))
    }

    /// Moves a stepped clock, but not backwards.
    pub(crate) fn step_to(&self, at: Duration) {
        if let Kind::Stepped(now) = &self.0 {
            let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = at.max(*now).min(END);
        }
    }
}

impl Default for SimulatorClock {
    fn default() -> Self {
        Self::real()
    }
}
