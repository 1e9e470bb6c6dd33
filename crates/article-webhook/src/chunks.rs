use std::{
    error::Error,
    future::poll_fn,
    io,
    iter::successors,
    pin::pin,
    task::Poll,
    time::{Duration, SystemTime},
};

use bytes::Bytes;

use crate::{
    Answer, Envelope, Intake, JobId, Receiver, Refused, Reply, answer::Code, drain::Drain, log,
};

/// A body as a framework hands it over. What an adapter implements for it is all that the core needs
/// to take it in.
///
/// ```
/// use article_webhook::{Broken, Chunks};
/// use bytes::Bytes;
///
/// /// A body that is there already.
/// struct Whole(Option<Bytes>);
///
/// impl Chunks for Whole {
///     async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
///         self.0.take().map(Ok)
///     }
/// }
///
/// /// A body whose sender hung up.
/// struct Torn;
///
/// impl Chunks for Torn {
///     async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
///         Some(Err(Broken::Early))
///     }
/// }
/// ```
pub trait Chunks {
    /// The next chunk; `None` at the end of the body.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, Broken>>>;
}

/// Why the rest of a body does not come.
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use article_webhook::Broken;
///
/// // As a server with a deadline says it, however many errors are wrapped around it.
/// let late = Error::other(Error::from(ErrorKind::TimedOut));
/// assert_eq!(Broken::of(&late), Broken::Late);
/// assert_eq!(Broken::of(&Error::from(ErrorKind::ConnectionReset)), Broken::Early);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive] // servers may learn to say more
pub enum Broken {
    /// The sender hung up, or the body is not framed as HTTP demands.
    #[error("the body broke off")]
    Early,
    /// The server's deadline for the body has passed.
    #[error("the body did not arrive in time")]
    Late,
    /// The server holds as much of bodies as it may.
    #[error("the server has no room for the body")]
    Crowded,
}

impl Broken {
    /// Finds the cause in a framework's error and its sources: a server says
    /// [`TimedOut`](io::ErrorKind::TimedOut) when the body is late, and
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory) when it has no room for it.
    ///
    /// ```
    /// use std::io::{Error, ErrorKind};
    /// use article_webhook::Broken;
    ///
    /// assert_eq!(Broken::of(&Error::from(ErrorKind::OutOfMemory)), Broken::Crowded);
    /// assert_eq!(Broken::of(&std::fmt::Error), Broken::Early);
    /// ```
    #[must_use]
    pub fn of(error: &(dyn Error + 'static)) -> Self {
        let kind = |error: &&(dyn Error + 'static)| Some(error.downcast_ref::<io::Error>()?.kind());
        let causes = successors(Some(error), |&error| source(error));
        causes
            .filter_map(|error| match kind(&error)? {
                io::ErrorKind::TimedOut => Some(Self::Late),
                io::ErrorKind::OutOfMemory => Some(Self::Crowded),
                _ => None,
            })
            .next()
            .unwrap_or(Self::Early)
    }
}

/// The error under this one. An [`io::Error`] passes over the error that it was made from.
fn source<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
}

impl Receiver {
    /// Carries a request from its judged headers to what `read` makes of its body: takes the body in
    /// within the limit, or drains as much of a refused one as lets the sender see the answer.
    ///
    /// For adapters. `sleep` is the runtime's, and is only called to bound the draining (500 ms);
    /// `now` is for the log, where strangers can write at most one line a second.
    ///
    /// # Errors
    ///
    /// The refusal of the headers; the body is too long or broke off; the refusal of `read`.
    ///
    /// ```
    /// # use std::{future::{pending, Future}, pin::pin, task::{Context, Waker, Poll}, time::SystemTime};
    /// # use article_webhook::{AuthToken, Broken, Chunks, Intake, Receiver};
    /// # struct Whole(Option<bytes::Bytes>);
    /// # impl Chunks for Whole {
    /// #     async fn next(&mut self) -> Option<Result<bytes::Bytes, Broken>> {
    /// #         self.0.take().map(Ok)
    /// #     }
    /// # }
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
    /// #         Poll::Ready(output) => output,
    /// #         Poll::Pending => unreachable!(),
    /// #     }
    /// # }
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
    ///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
    /// let carry = |opened, body: &'static str| {
    ///     let mut chunks = Whole(Some(body.into()));
    ///     block_on(receiver.carry(opened, &mut chunks, |_| pending(), SystemTime::now(), Intake::read))
    /// };
    /// let delivery = carry(receiver.open(&headers), r#"{"job_id": "job_1"}"#)?;
    /// assert_eq!(delivery.job_id().as_str(), "job_1");
    ///
    /// let refused = carry(receiver.open(&headers[1..]), "anything").unwrap_err();
    /// assert_eq!(refused.answer().status(), 401);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn carry<T, S: Future<Output = ()>>(
        &self,
        opened: Result<Envelope, Refused>,
        chunks: &mut impl Chunks,
        sleep: impl FnOnce(Duration) -> S,
        now: SystemTime,
        read: impl FnOnce(Intake) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let carried = match opened {
            Ok(envelope) => fill(envelope.intake(), chunks).await.and_then(read),
            Err(refused) => Err(drain(refused, chunks, sleep).await),
        };
        carried.inspect_err(|refused| self.log_refusal(refused, now))
    }

    /// Waits for a sink's reply, but not for longer than [`sink_deadline`](Self::sink_deadline), and
    /// says what goes back.
    ///
    /// For adapters. `task` runs the sink on its own, so that dropping the wait does not stop the work;
    /// its error means that the sink panicked or was taken down: 500. `sleep` is the runtime's; when it
    /// ends first, the service is told to come again: 503.
    ///
    /// ```
    /// # use std::{future::{pending, ready, Future}, pin::pin, task::{Context, Waker, Poll}};
    /// # use article_webhook::{AuthToken, JobId, Receiver, Reply};
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
    /// #         Poll::Ready(output) => output,
    /// #         Poll::Pending => unreachable!(),
    /// #     }
    /// # }
    /// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
    /// let job_id: JobId = "job_1".parse()?;
    ///
    /// let stored = ready(Ok::<_, ()>(Reply::Stored));
    /// assert_eq!(block_on(receiver.wait(&job_id, stored, |_| pending())).status(), 200);
    /// let panicked = ready(Err(()));
    /// assert_eq!(block_on(receiver.wait(&job_id, panicked, |_| pending())).status(), 500);
    /// let late = pending::<Result<Reply, ()>>();
    /// assert_eq!(block_on(receiver.wait(&job_id, late, |_| ready(()))).status(), 503);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn wait<E, S: Future<Output = ()>>(
        &self,
        job_id: &JobId,
        task: impl Future<Output = Result<Reply, E>>,
        sleep: impl FnOnce(Duration) -> S,
    ) -> Answer {
        match before(sleep(self.sink_deadline()), task).await {
            Some(Ok(reply)) => reply.into(),
            Some(Err(_)) => {
                log::sink_failed("the sink panicked", job_id);
                Answer::new(Code::Internal)
            }
            None => {
                log::sink_failed("the sink did not reply in time", job_id);
                Answer::new(Code::Unavailable)
            }
        }
    }
}

async fn fill(mut intake: Intake, chunks: &mut impl Chunks) -> Result<Intake, Refused> {
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => intake.push(chunk)?,
            Err(broken) => return Err(intake.broken(broken)),
        }
    }
    Ok(intake)
}

async fn drain<S: Future<Output = ()>>(
    refused: Refused,
    chunks: &mut impl Chunks,
    sleep: impl FnOnce(Duration) -> S,
) -> Refused {
    let Some(mut drain) = refused.drain() else {
        return refused;
    };
    let to_the_end = async {
        loop {
            match chunks.next().await {
                None => return true,
                // An empty chunk costs a byte, so that an endless row of them comes to an end.
                Some(Ok(chunk)) if drain.take(chunk.len().max(1)) => {}
                Some(_) => return false,
            }
        }
    };
    match before(sleep(Drain::WITHIN), to_the_end).await {
        Some(true) => refused.drained(),
        _ => refused,
    }
}

/// What the work comes to, if it ends before the sleep does.
async fn before<T>(sleep: impl Future<Output = ()>, work: impl Future<Output = T>) -> Option<T> {
    let (mut sleep, mut work) = (pin!(sleep), pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => sleep.as_mut().poll(context).map(|()| None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_cause_that_says_something_counts() {
        use io::ErrorKind::{ConnectionReset, OutOfMemory, TimedOut};

        let wrapped =
            |kind: io::ErrorKind| io::Error::other(io::Error::other(io::Error::from(kind)));
        for (error, broken, text) in [
            (wrapped(TimedOut), Broken::Late, "the body did not arrive in time"),
            (wrapped(OutOfMemory), Broken::Crowded, "the server has no room for the body"),
            (wrapped(ConnectionReset), Broken::Early, "the body broke off"),
            (
                io::Error::new(TimedOut, io::Error::from(OutOfMemory)),
                Broken::Late,
                "the body did not arrive in time",
            ),
            (io::Error::other("no error at all"), Broken::Early, "the body broke off"),
        ] {
            assert_eq!(Broken::of(&error), broken);
            assert_eq!(broken.to_string(), text);
        }
    }
}
