use std::time::{Duration, SystemTime};

use super::finding::{Finding, Severity};
use crate::text::moment;

/// From here on, the clock is reported as wrong.
const OFF: Duration = Duration::from_secs(10);

/// From here on, certificates and URLs that expire are checked wrongly.
const FAR_OFF: Duration = Duration::from_secs(300);

/// The clock of another machine, as the `Date` of an answer shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    whose: &'static str,
    difference: Duration,
    direction: &'static str,
}

impl Reading {
    /// A reading that just came, after a request that was sent at `sent`.
    pub(super) fn new(whose: &'static str, sent: SystemTime, shown: SystemTime) -> Self {
        let (difference, direction) = difference(sent, SystemTime::now(), shown);
        Self { whose, difference, direction }
    }

    fn finding(&self) -> Finding {
        let Self { whose, difference, direction } = self;
        let severity = match *difference {
            _ if *difference < OFF => {
                let found = format!("this machine's clock agrees with that of {whose}");
                return Finding::ok("clock.agrees", found);
            }
            _ if *difference < FAR_OFF => Severity::Warn,
            _ => Severity::Fail,
        };
        let size = moment::span(*difference);
        let found = format!("this machine's clock is {size} {direction} that of {whose}");
        Finding::new("clock.off", severity, found)
            .because("certificates, URLs that expire, retries and retention go by the clock")
            .fix("switch on time synchronisation, such as `timedatectl set-ntp true`, or fix the other clock")
    }
}

/// How far this machine's clock is from one that showed `shown` at a moment from `sent` to `received`, and where. A `Date`
/// has whole seconds, so that it may be a second old.
fn difference(
    sent: SystemTime,
    received: SystemTime,
    shown: SystemTime,
) -> (Duration, &'static str) {
    match shown.duration_since(received) {
        Ok(behind) if !behind.is_zero() => (behind, "behind"),
        _ => {
            let latest = shown + Duration::from_secs(1);
            (sent.duration_since(latest).unwrap_or_default(), "ahead of")
        }
    }
}

pub(super) fn findings(readings: &[Reading]) -> Vec<Finding> {
    if readings.is_empty() {
        let found = "this machine's clock, because no answer had a `Date`";
        let finding = Finding::not_checked("clock.no_date", found);
        return vec![finding.fix("name the receiver or the service")];
    }
    readings.iter().map(Reading::finding).collect()
}
