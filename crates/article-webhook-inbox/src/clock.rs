use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

#[cfg(feature = "sqlite")]
use crate::timestamp::to_millis;

/// The clock of a store: the system's clock, or one that a test moves.
///
/// The system's clock is read once, when this value is made. From then on a monotonic clock counts. When the system's
/// clock is set, or the machine was suspended, the two differ. A [`SqliteStore`](crate::SqliteStore) notices that within
/// a second. It follows the system's clock, and moves the ends of its leases and pauses along, so that no lease ends and
/// no attempt is delayed.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use article_webhook_inbox::Clock;
///
/// let clock = Clock::stepped(SystemTime::UNIX_EPOCH);
/// clock.clone().advance(Duration::from_secs(370));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(370));
///
/// let system = Clock::system();
/// assert!(system.now() <= system.now());
/// assert!(std::panic::catch_unwind(|| Clock::system().advance(Duration::from_secs(1))).is_err());
/// ```
#[derive(Clone)]
pub struct Clock {
    start: SystemTime,
    source: Source,
    /// Milliseconds by which the clock has followed the system's clock since the start. Clones share it.
    followed: Arc<AtomicI64>,
}

#[derive(Clone)]
enum Source {
    System(Instant),
    Stepped(Arc<Mutex<Readings>>),
}

/// What a test has done to a stepped clock, in milliseconds since its start.
#[derive(Debug, Default)]
struct Readings {
    monotonic: Duration,
    /// How far the system's clock was set forward, or back if it is negative.
    set: i64,
}

/// How far a clock was set.
///
/// ```
/// use std::time::Duration;
/// use article_webhook_inbox::ClockStep;
///
/// assert_eq!(ClockStep::Forward(Duration::from_secs(60)).to_string(), "60 seconds ahead");
/// assert_eq!(ClockStep::Back(Duration::from_secs(36_000)).to_string(), "10 hours back");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "time has two directions")]
pub enum ClockStep {
    /// The clock was set ahead, or the machine was suspended.
    Forward(Duration),
    /// The clock was set back.
    Back(Duration),
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self {
            start: SystemTime::now(),
            source: Source::System(Instant::now()),
            followed: Arc::default(),
        }
    }

    /// A clock that stands still until [`advance`](Self::advance) is called. Its clones show the same time.
    #[must_use]
    pub fn stepped(start: SystemTime) -> Self {
        Self { start, source: Source::Stepped(Arc::default()), followed: Arc::default() }
    }

    /// The time. It never runs backwards, unless a store follows a clock that was set back.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        let elapsed = match &self.source {
            Source::System(since) => since.elapsed(),
            Source::Stepped(readings) => lock(readings).monotonic,
        };
        moved(self.start + elapsed, self.followed.load(Ordering::Relaxed))
    }

    /// Moves a stepped clock forward.
    ///
    /// # Panics
    ///
    /// This is the system's clock.
    pub fn advance(&self, by: Duration) {
        self.readings().monotonic += by;
    }

    /// Sets the system's clock of a stepped clock, as an administrator or NTP does. [`now`](Self::now) does not change until
    /// a store follows.
    ///
    /// # Panics
    ///
    /// This is the system's clock.
    pub fn set(&self, step: ClockStep) {
        self.readings().set += step.millis();
    }

    /// How far the system's clock is from this one.
    #[cfg(feature = "sqlite")] // that store follows
    pub(crate) fn difference(&self) -> ClockStep {
        let millis = match &self.source {
            Source::System(_) => to_millis(SystemTime::now()) - to_millis(self.now()),
            Source::Stepped(readings) => lock(readings).set - self.followed.load(Ordering::Relaxed),
        };
        ClockStep::of_millis(millis)
    }

    /// Follows the system's clock by this step.
    pub(crate) fn follow(&self, step: ClockStep) {
        self.followed.fetch_add(step.millis(), Ordering::Relaxed);
    }

    fn readings(&self) -> std::sync::MutexGuard<'_, Readings> {
        match &self.source {
            Source::System(_) => {
                panic!("the system's clock cannot be moved: use `Clock::stepped`")
            }
            Source::Stepped(readings) => lock(readings),
        }
    }
}

fn lock(readings: &Mutex<Readings>) -> std::sync::MutexGuard<'_, Readings> {
    readings.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time moved by milliseconds, or 1970 if that were before 1970.
fn moved(time: SystemTime, millis: i64) -> SystemTime {
    let by = Duration::from_millis(millis.unsigned_abs());
    let moved = if millis < 0 { time.checked_sub(by) } else { time.checked_add(by) };
    moved.unwrap_or(SystemTime::UNIX_EPOCH).max(SystemTime::UNIX_EPOCH)
}

impl ClockStep {
    /// The step from one time to another.
    #[cfg(feature = "sqlite")]
    pub(crate) fn between(from: SystemTime, to: SystemTime) -> Self {
        match to.duration_since(from) {
            Ok(ahead) => Self::Forward(ahead),
            Err(back) => Self::Back(back.duration()),
        }
    }

    /// How far, in either direction.
    #[must_use]
    pub fn distance(self) -> Duration {
        match self {
            Self::Forward(by) | Self::Back(by) => by,
        }
    }

    /// The time moved by this step.
    pub(crate) fn applied_to(self, time: SystemTime) -> SystemTime {
        moved(time, self.millis())
    }

    #[cfg(feature = "sqlite")]
    fn of_millis(millis: i64) -> Self {
        let by = Duration::from_millis(millis.unsigned_abs());
        if millis < 0 { Self::Back(by) } else { Self::Forward(by) }
    }

    fn millis(self) -> i64 {
        let millis = i64::try_from(self.distance().as_millis()).unwrap_or(i64::MAX);
        match self {
            Self::Forward(_) => millis,
            Self::Back(_) => -millis,
        }
    }
}

impl fmt::Display for ClockStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.distance().as_secs();
        let (number, unit) = match seconds {
            0..120 => (seconds, "seconds"),
            120..7_200 => (seconds / 60, "minutes"),
            7_200..172_800 => (seconds / 3600, "hours"),
            _ => (seconds / 86_400, "days"),
        };
        let direction = if matches!(self, Self::Forward(_)) { "ahead" } else { "back" };
        write!(f, "{number} {unit} {direction}")
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.source {
            Source::System(_) => "system",
            Source::Stepped(_) => "stepped",
        };
        f.debug_tuple("Clock").field(&format_args!("{kind}")).finish()
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;

    const START: SystemTime = SystemTime::UNIX_EPOCH;
    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_clock_that_is_set_differs_until_it_is_followed() {
        let clock = Clock::stepped(START + 10 * HOUR);
        assert_eq!(clock.difference(), ClockStep::Forward(Duration::ZERO));
        let clone = clock.clone();
        for (step, then) in
            [(ClockStep::Forward(HOUR), 11 * HOUR), (ClockStep::Back(5 * HOUR), 6 * HOUR)]
        {
            let before = clock.now();
            clone.set(step);
            assert_eq!((clock.now(), clock.difference()), (before, step));
            clone.follow(step);
            assert_eq!(
                (clock.now(), clock.difference().distance()),
                (START + then, Duration::ZERO)
            );
        }
    }

    #[test]
    fn the_system_s_clock_agrees_with_itself() {
        let clock = Clock::system();
        assert!(clock.difference().distance() < Duration::from_secs(5));
        clock.follow(ClockStep::Forward(HOUR));
        let back = clock.difference();
        assert!(matches!(back, ClockStep::Back(by) if by.abs_diff(HOUR) < Duration::from_secs(5)));
    }

    #[test]
    fn a_step_leads_from_one_time_to_another() {
        let (early, late) = (START + HOUR, START + 3 * HOUR);
        for (from, to) in [(early, late), (late, early)] {
            let step = ClockStep::between(from, to);
            assert_eq!((step.applied_to(from), step.distance()), (to, 2 * HOUR));
        }
        assert_eq!(ClockStep::Back(HOUR).applied_to(START), START, "no time before 1970");
    }
}
