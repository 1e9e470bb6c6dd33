use std::time::{Duration, SystemTime};

use super::{BodySource, timeout::before};
use crate::{
    answer::{DrainBudget, Refused, Rejection},
    receiver::{Envelope, Intake, Receiver},
};

/// Receives the body of a request whose headers were checked, within the receiver's limits, and passes it
/// to `read`. After a refusal it drains part of the body, so that the sender sees the answer.
///
/// `opened` is what [`Receiver::open`] or one of its variants returned, and `read` is [`Intake::read`] or
/// [`Intake::article`]. `sleep` is the runtime's timer: it limits the wait for the body to
/// [`body_deadline`](Receiver::body_deadline), and the draining to 500 ms. It is called only if the body has to
/// be waited for. `now` is for the log, which has at most one line a second about unauthenticated requests.
///
/// # Errors
///
/// The headers were refused; the body is too long, is late, finds no room in the budget, or ends with a
/// [`BodyError`](super::BodyError); `read` refused the body. Each is logged.
pub async fn receive_body<T, S: Future<Output = ()>>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    body: &mut impl BodySource,
    sleep: impl FnOnce(Duration) -> S,
    now: SystemTime,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let received = match opened {
        Ok(envelope) => {
            let mut intake = envelope.intake();
            let filled = before(|| sleep(receiver.body_deadline()), fill(&mut intake, body)).await;
            match filled {
                Some(Ok(())) => read(intake),
                Some(Err(refused)) => Err(refused),
                None => Err(intake.refuse(Rejection::Timeout)),
            }
        }
        Err(refused) => Err(drain(refused, body, sleep).await),
    };
    received.inspect_err(|refused| receiver.log_refusal(refused, now))
}

async fn fill(intake: &mut Intake, body: &mut impl BodySource) -> Result<(), Refused> {
    while let Some(chunk) = body.next().await {
        match chunk {
            Ok(chunk) => intake.push(chunk)?,
            Err(error) => return Err(error.refuse(intake)),
        }
    }
    Ok(())
}

async fn drain<S: Future<Output = ()>>(
    refused: Refused,
    body: &mut impl BodySource,
    sleep: impl FnOnce(Duration) -> S,
) -> Refused {
    let Some(mut budget) = refused.drain_budget() else {
        return refused;
    };
    let to_the_end = async {
        loop {
            match body.next().await {
                None => return true,
                // An empty chunk counts as one byte, so that draining ends even if the sender sends
                // nothing but empty chunks.
                Some(Ok(chunk)) if budget.take(chunk.len().max(1)) => {}
                Some(_) => return false,
            }
        }
    };
    match before(|| sleep(DrainBudget::TIME), to_the_end).await {
        Some(true) => refused.drained(),
        _ => refused,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use bytes::Bytes;

    use super::*;
    use crate::{
        Delivery,
        adapter::BodyError,
        receiver::sample::{BODY, HEADERS, TOKEN, receiver},
    };

    /// A body in chunks, the last one first.
    struct Chunks {
        left: Vec<&'static str>,
        end: End,
    }

    #[derive(Clone, Copy)]
    enum End {
        Comes,
        NeverComes,
        Fails(BodyError),
    }

    impl BodySource for Chunks {
        async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
            match (self.left.pop(), self.end) {
                (Some(chunk), _) => Some(Ok(chunk.into())),
                (None, End::Comes) => None,
                (None, End::NeverComes) => pending().await,
                (None, End::Fails(error)) => Some(Err(error)),
            }
        }
    }

    fn receive<S: Future<Output = ()>>(
        token: &'static str,
        mut body: Chunks,
        sleep: impl FnOnce(Duration) -> S,
    ) -> Poll<Result<Delivery, Refused>> {
        let receiver = receiver();
        let mut headers = Vec::from(HEADERS);
        headers[0].1 = token;
        headers.push(("Content-Length", "19"));
        let (opened, now) = (receiver.open(&headers), SystemTime::UNIX_EPOCH);
        let received = receive_body(&receiver, opened, &mut body, sleep, now, Intake::read);
        pin!(received).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_body_that_is_there_needs_no_timer_and_its_refusal_needs_none() {
        let no_timer = |_| -> std::future::Ready<()> { panic!("there is no runtime") };
        let whole = || Chunks { left: vec![&BODY[5..], &BODY[..5]], end: End::Comes };
        let Poll::Ready(Ok(delivery)) = receive(TOKEN, whole(), no_timer) else { panic!() };
        assert_eq!(delivery.body(), BODY);
        let Poll::Ready(Err(refused)) = receive("guess", whole(), no_timer) else { panic!() };
        assert!(refused.answer().headers().all(|(name, _)| name != "connection"), "it is drained");
    }

    #[test]
    fn a_body_that_is_waited_for_has_until_the_deadline() {
        let part = || Chunks { left: vec![&BODY[..5]], end: End::NeverComes };
        let asked = |time| {
            assert_eq!(time, Duration::from_secs(30));
            pending()
        };
        assert!(receive(TOKEN, part(), asked).is_pending());
        let Poll::Ready(Err(refused)) = receive(TOKEN, part(), |_| ready(())) else { panic!() };
        assert_eq!(*refused.rejection(), Rejection::Timeout);
    }

    #[test]
    fn an_application_that_limits_or_reads_the_body_is_reported_in_the_log() {
        for (left, end, status, text) in [
            (
                vec![&BODY[..5]],
                End::Fails(BodyError::LimitedByLayer),
                413,
                "a layer in front of the receiver limits bodies to less than the receiver: \
                 raise its limit to ReceiverBuilder::body_limit",
            ),
            (
                vec![],
                End::Comes,
                500,
                "another extractor or a middleware has read the body: \
                 the receiver must be the first to read it",
            ),
        ] {
            let received = receive(TOKEN, Chunks { left, end }, |_| pending::<()>());
            let Poll::Ready(Err(refused)) = received else { panic!() };
            assert_eq!((refused.answer().status().as_u16(), &*refused.to_string()), (status, text));
            assert!(refused.rejection().is_authentic());
            assert_eq!(refused.job_id().unwrap().as_str(), "job_1");
        }
    }
}
