use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::time::sleep;

use crate::Error;

/// The longest that a `Retry-After` is heeded: it is a text from outside.
const LONGEST: Duration = Duration::from_secs(60);

/// The first and the longest pause. A drawn part of each, up to the whole, is added to it.
pub(crate) type Pauses = [Duration; 2];

/// How often a call is repeated at most.
const REPEATS: usize = 3;

pub(crate) fn backoff([first, longest]: Pauses) -> ExponentialBuilder {
    ExponentialBuilder::new().with_min_delay(first).with_max_delay(longest).with_jitter()
}

/// Repeats a call while its error is one that `may_repeat`.
pub(crate) async fn retry<T, F: Future<Output = Result<T, Error>>>(
    pauses: Pauses,
    mut call: impl FnMut() -> F,
    may_repeat: impl Fn(&Error) -> bool,
) -> Result<T, Error> {
    let mut pauses = backoff(pauses).with_max_times(REPEATS).build();
    loop {
        let error = match call().await {
            Err(error) if may_repeat(&error) => error,
            result => return result,
        };
        let Some(pause) = pauses.next() else {
            return Err(error);
        };
        sleep(heeding(&error, pause)).await;
    }
}

/// The pause, or the longer one that the service asks for.
pub(crate) fn heeding(error: &Error, pause: Duration) -> Duration {
    error.retry_after().map_or(pause, |asked| asked.clamp(pause, LONGEST.max(pause)))
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::error::Kind;

    const PAUSES: Pauses = [Duration::from_millis(500), Duration::from_secs(8)];

    fn busy(retry_after: Option<u64>) -> Error {
        let retry_after = retry_after.map(Duration::from_secs);
        Error::new(Kind::Status { status: 503, retry_after, start: String::new() })
    }

    /// How often a call is made that always fails so, and after how many seconds it is given up.
    async fn given_up(retry_after: Option<u64>) -> (u32, f64) {
        let (start, mut calls) = (Instant::now(), 0);
        let call = || {
            calls += 1;
            async { Err::<(), _>(busy(retry_after)) }
        };
        let error = retry(PAUSES, call, Error::is_transient).await.unwrap_err();
        assert_eq!(error.status(), Some(503));
        (calls, start.elapsed().as_secs_f64())
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_repeated_three_times_with_growing_pauses() {
        let (calls, seconds) = given_up(None).await;
        assert_eq!(calls, 4);
        // 0.5 + 1 + 2 s, and up to as much again by chance.
        assert!((3.5..7.1).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_longer_pause_that_is_asked_for_is_made() {
        let (calls, seconds) = given_up(Some(20)).await;
        assert_eq!(calls, 4);
        assert!((60.0..60.1).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_pause_that_is_asked_for_is_not() {
        let (_, seconds) = given_up(Some(0)).await;
        assert!((3.5..7.1).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_made_to_wait_for_ever() {
        let (_, seconds) = given_up(Some(u64::MAX)).await;
        assert!((180.0..180.1).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_that_does_not_pass_is_not_repeated() {
        let mut calls = 0;
        let call = || {
            calls += 1;
            async { Err::<(), _>(Error::new(Kind::OtherJob)) }
        };
        assert!(retry(PAUSES, call, Error::is_transient).await.is_err());
        assert_eq!(calls, 1);
    }
}
