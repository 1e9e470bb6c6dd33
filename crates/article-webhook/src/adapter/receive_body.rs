use std::time::{Duration, SystemTime};

use super::{BodySource, before::before};
use crate::{
    answer::{DrainBudget, Refused},
    receiver::{Envelope, Intake, Receiver},
};

/// Takes a request from its checked headers to what `read` makes of its body. Receives the body within
/// the receiver's limit, or drains as much of a refused one as lets the sender see the answer.
///
/// `opened` is what [`Receiver::open`] or one of its variants returned, and `read` is [`Intake::read`] or
/// [`Intake::article`]. `sleep` is the runtime's and bounds the draining (500 ms). `now` is for
/// the log, in which strangers can write at most one line a second.
///
/// # Errors
///
/// The refusal of the headers; the body is too long or ends with a
/// [`BodyError`](super::BodyError); the refusal of `read`. Each is logged.
pub async fn receive_body<T, S: Future<Output = ()>>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    body: &mut impl BodySource,
    sleep: impl FnOnce(Duration) -> S,
    now: SystemTime,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let received = match opened {
        Ok(envelope) => fill(envelope.intake(), body).await.and_then(read),
        Err(refused) => Err(drain(refused, body, sleep).await),
    };
    received.inspect_err(|refused| receiver.log_refusal(refused, now))
}

async fn fill(mut intake: Intake, body: &mut impl BodySource) -> Result<Intake, Refused> {
    while let Some(chunk) = body.next().await {
        match chunk {
            Ok(chunk) => intake.push(chunk)?,
            Err(error) => return Err(error.refuse(intake)),
        }
    }
    Ok(intake)
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
                // An empty chunk costs a byte, so that an endless row of them comes to an end.
                Some(Ok(chunk)) if budget.take(chunk.len().max(1)) => {}
                Some(_) => return false,
            }
        }
    };
    match before(sleep(DrainBudget::TIME), to_the_end).await {
        Some(true) => refused.drained(),
        _ => refused,
    }
}
