use std::time::SystemTime;

use super::{Envelope, Headers, Receiver, envelope::Sender, receiver::require_post};
use crate::{
    answer::{Refused, Rejection},
    auth::{CapabilityKey, CapabilityRefusal},
};

impl Receiver {
    /// Checks the headers of a request to a capability URL, whose last segment takes the place of the
    /// token. `Authorization` is ignored; everything else is checked as in [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// The segment is not a capability of `key`, or has expired at `now` (401, the same answer for
    /// both); otherwise the errors of [`open`](Self::open).
    pub fn open_capability(
        &self,
        key: &CapabilityKey,
        segment: &str,
        now: SystemTime,
        headers: &(impl Headers + ?Sized),
    ) -> Result<Envelope, Refused> {
        self.open_with(headers, |_| verify(key, segment, now))
    }

    /// Checks the head of a request to a capability URL: the method, which must be POST, then the last
    /// segment of the path, then the headers. For adapters that are mounted on every method.
    ///
    /// # Errors
    ///
    /// Any other method (405); otherwise the errors of [`open_capability`](Self::open_capability).
    pub fn open_capability_request(
        &self,
        key: &CapabilityKey,
        method: &str,
        path: &str,
        now: SystemTime,
        headers: &(impl Headers + ?Sized),
    ) -> Result<Envelope, Refused> {
        let segment = path.rsplit('/').next().unwrap_or_default();
        self.open_with(headers, |_| {
            require_post(method)?;
            verify(key, segment, now)
        })
    }
}

fn verify(key: &CapabilityKey, segment: &str, now: SystemTime) -> Result<Sender, Rejection> {
    let intent = key.verify(segment, now).map_err(|refusal| match refusal {
        CapabilityRefusal::Wrong => Rejection::CapabilityWrong,
        CapabilityRefusal::Expired => Rejection::CapabilityExpired,
    })?;
    Ok(Sender::Capability { intent: intent.into() })
}
