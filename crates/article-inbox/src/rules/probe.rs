use std::time::{Duration, Instant};

/// A store is probed at most so often.
const EVERY: Duration = Duration::from_secs(1);

/// Whether the store can be written to, by the last look at it: a second long, that is good enough for anybody
/// who asks.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    last: Option<(Instant, Result<(), String>)>,
}

impl Probe {
    /// What is known, unless it is too old.
    pub(crate) fn known(&self, now: Instant) -> Option<Result<(), String>> {
        let (at, result) = self.last.as_ref()?;
        (now < *at + EVERY).then(|| result.clone())
    }

    pub(crate) fn looked(&mut self, now: Instant, result: Result<(), String>) {
        self.last = Some((now, result));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_holds_for_a_second() {
        let (mut probe, now) = (Probe::default(), Instant::now());
        assert_eq!(probe.known(now), None);
        probe.looked(now, Err("the disk is full".to_owned()));
        assert_eq!(probe.known(now), Some(Err("the disk is full".to_owned())));
        assert_eq!(
            probe.known(now + Duration::from_millis(999)).map(|known| known.is_err()),
            Some(true)
        );
        assert_eq!(probe.known(now + EVERY), None);
    }
}
