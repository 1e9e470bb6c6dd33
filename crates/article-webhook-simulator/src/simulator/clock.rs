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

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_stepped_clock_moves_only_forwards_and_only_by_steps() {
        let clock = SimulatorClock::stepped();
        clock.step_to(3 * SECOND);
        clock.step_to(SECOND);
        assert_eq!(clock.now(), 3 * SECOND);
        assert_eq!(clock.real_time_until(9 * SECOND), None);
    }

    #[test]
    fn an_accelerated_clock_sleeps_for_a_fraction_of_its_time() {
        let clock = SimulatorClock::accelerated(1000);
        let real = clock.real_time_until(3600 * SECOND).unwrap();
        assert!((SECOND..4 * SECOND).contains(&real), "{real:?}");
        clock.step_to(7200 * SECOND);
        assert!(clock.now() < 3600 * SECOND, "it runs by itself");
    }

    #[test]
    fn a_fast_clock_stops_after_a_hundred_years() {
        let start = Instant::now().checked_sub(2 * SECOND).unwrap();
        let clock = SimulatorClock(Kind::Running { start, times: u32::MAX });
        assert_eq!(clock.now(), END);
    }
}
