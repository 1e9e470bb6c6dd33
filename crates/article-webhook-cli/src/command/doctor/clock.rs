use std::time::{Duration, SystemTime};

use super::finding::Finding;
use crate::text::moment;

/// From here on, the clock is said to be off.
const OFF: Duration = Duration::from_secs(10);

/// From here on, certificates and URLs that expire are checked wrongly.
const FAR_OFF: Duration = Duration::from_secs(300);

/// The clock of another machine, as the `Date` of an answer shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    whose: &'static str,
    difference: Difference,
}

#[derive(Debug, Clone, Copy)]
enum Difference {
    Ahead(Duration),
    Behind(Duration),
}

impl Reading {
    /// A reading that just came, after a request that was sent at `sent`.
    pub(super) fn new(whose: &'static str, sent: SystemTime, shown: SystemTime) -> Self {
        Self { whose, difference: Difference::between(sent, SystemTime::now(), shown) }
    }
}

impl Difference {
    /// How far this machine's clock is from one that showed `shown` at a moment from `sent` to `received`. A `Date` has whole
    /// seconds, so that it may be a second old.
    fn between(sent: SystemTime, received: SystemTime, shown: SystemTime) -> Self {
        match shown.duration_since(received) {
            Ok(behind) if !behind.is_zero() => Self::Behind(behind),
            _ => {
                let latest = shown + Duration::from_secs(1);
                Self::Ahead(sent.duration_since(latest).unwrap_or_default())
            }
        }
    }

    fn size(self) -> Duration {
        match self {
            Self::Ahead(size) | Self::Behind(size) => size,
        }
    }
}

pub(super) fn findings(readings: &[Reading]) -> Vec<Finding> {
    if readings.is_empty() {
        let found = "this machine's clock, because no answer had a `Date`";
        return vec![
            Finding::not_checked("clock.no_date", found).fix("name the receiver or the service"),
        ];
    }
    readings.iter().map(of_reading).collect()
}

fn of_reading(Reading { whose, difference }: &Reading) -> Finding {
    let size = moment::span(difference.size());
    if difference.size() < OFF {
        return Finding::ok(
            "clock.agrees",
            format!("this machine's clock agrees with that of {whose}"),
        );
    }
    let found = match difference {
        Difference::Ahead(_) => format!("this machine's clock is {size} ahead of that of {whose}"),
        Difference::Behind(_) => format!("this machine's clock is {size} behind that of {whose}"),
    };
    let finding = match difference.size() < FAR_OFF {
        true => Finding::warn("clock.off", found),
        false => Finding::fail("clock.off", found),
    };
    finding
        .because("certificates, URLs that expire, retries and retention go by the clock")
        .fix("switch on time synchronisation, such as `timedatectl set-ntp true`, or fix the other clock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_and_whole_seconds_are_allowed_for() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let size = |shown| Difference::between(at(100), at(107), at(shown)).size().as_secs();
        assert_eq!([98, 99, 100, 107, 108, 200].map(size), [1, 0, 0, 0, 1, 93]);
    }
}
