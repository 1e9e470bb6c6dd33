use std::time::{Duration, Instant};

/// How long the result of a probe is used.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// The result of the last probe of the store, for one second. It limits probes to one a second, however
/// often the health is read.
#[derive(Debug, Default)]
pub(crate) struct ProbeCache {
    last: Option<(Instant, Result<(), String>)>,
}

impl ProbeCache {
    /// The last result, unless it is too old.
    pub(crate) fn known(&self, now: Instant) -> Option<Result<(), String>> {
        let (at, result) = self.last.as_ref()?;
        (now < *at + PROBE_INTERVAL).then(|| result.clone())
    }

    /// The store was probed.
    pub(crate) fn probed(&mut self, now: Instant, result: Result<(), String>) {
        self.last = Some((now, result));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_used_for_a_second() {
        let (mut probe, now) = (ProbeCache::default(), Instant::now());
        assert_eq!(probe.known(now), None);
        probe.probed(now, Err("the disk is full".to_owned()));
        assert_eq!(probe.known(now), Some(Err("the disk is full".to_owned())));
        assert_eq!(
            probe.known(now + Duration::from_millis(999)).map(|known| known.is_err()),
            Some(true)
        );
        assert_eq!(probe.known(now + PROBE_INTERVAL), None);
    }
}
