use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::time::{Instant, sleep};

use crate::{Error, error::Kind};

/// The first and the longest pause. Each pause is prolonged by a random time, at most its own length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pauses {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Pauses {
    pub(crate) fn validate(self) -> Result<(), Error> {
        if self.first > self.longest {
            let message = "the first pause must not be longer than the longest";
            return Err(Error::new(Kind::Setting(message)));
        }
        Ok(())
    }
}

/// The maximum number of repetitions of a call.
const REPEATS: usize = 3;

pub(crate) fn backoff(Pauses { first, longest }: Pauses) -> ExponentialBuilder {
    ExponentialBuilder::new().with_min_delay(first).with_max_delay(longest).with_jitter()
}

/// Repeats a call while `may_repeat` accepts its error and the deadline allows another pause. Each attempt is given
/// the time that is left.
pub(crate) async fn retry<T, F: Future<Output = Result<T, Error>>>(
    pauses: Pauses,
    deadline: Duration,
    mut call: impl FnMut(Duration) -> F,
    may_repeat: impl Fn(&Error) -> bool,
) -> Result<T, Error> {
    let start = Instant::now();
    let mut pauses = backoff(pauses).with_max_times(REPEATS).build();
    loop {
        let error = match call(deadline.saturating_sub(start.elapsed())).await {
            Err(error) if may_repeat(&error) => error,
            result => return result,
        };
        let Some(pause) = pauses.next() else {
            return Err(error);
        };
        let pause = longer(pause, error.retry_after());
        if start.elapsed().saturating_add(pause) >= deadline {
            return Err(error);
        }
        sleep(pause).await;
    }
}

/// The pause, or the service's `Retry-After` if that is longer. It is respected in full, because an earlier call may
/// renew it: the deadline of the call is what limits the wait.
pub(crate) fn longer(pause: Duration, retry_after: Option<Duration>) -> Duration {
    retry_after.map_or(pause, |asked| asked.max(pause))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{
        ApiKey, Response, StatusCode,
        response::{Length, RawResponse, Secrets},
    };

    const DEADLINE: Duration = Duration::from_secs(120);

    const PAUSES: Pauses =
        Pauses { first: Duration::from_millis(500), longest: Duration::from_secs(8) };

    fn busy(retry_after: Option<u64>) -> Error {
        let retry_after = retry_after.map(Duration::from_secs);
        let key = ApiKey::new("sk-5f2b9c0e7a1d4e38").unwrap();
        let raw = RawResponse {
            status: StatusCode::SERVICE_UNAVAILABLE,
            sent_at: None,
            retry_after,
            body: Bytes::new(),
            length: Length::Whole,
        };
        Error::of_response(Response::refusal(&Secrets::of(&key), raw))
    }

    /// The number of calls when each one fails like this, and the seconds until the last.
    async fn failing_calls(retry_after: Option<u64>) -> (u32, f64) {
        let (start, mut calls) = (Instant::now(), 0);
        let call = |left| {
            calls += 1;
            assert_eq!(left, DEADLINE - start.elapsed());
            async { Err::<(), _>(busy(retry_after)) }
        };
        let error = retry(PAUSES, DEADLINE, call, Error::is_transient).await.unwrap_err();
        assert_eq!(error.status(), Some(StatusCode::SERVICE_UNAVAILABLE));
        (calls, start.elapsed().as_secs_f64())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_repeated_three_times_with_growing_pauses_or_those_that_are_asked_for() {
        for (asked, expected, between) in [
            // 0.5 + 1 + 2 s, and a random part of the same length at most.
            (None, 4, 3.5..7.1),
            (Some(0), 4, 3.5..7.1),
            (Some(20), 4, 60.0..60.1),
            // No pause ends after the deadline.
            (Some(45), 3, 90.0..90.1),
            (Some(100), 2, 100.0..100.1),
            // A call before its end could be refused again, and the pause prolonged.
            (Some(120), 1, 0.0..0.1),
            (Some(3600), 1, 0.0..0.1),
            (Some(u64::MAX), 1, 0.0..0.1),
        ] {
            let (calls, seconds) = failing_calls(asked).await;
            assert_eq!(calls, expected, "{asked:?}");
            assert!(between.contains(&seconds), "{asked:?}: {seconds}");
        }
    }
}
