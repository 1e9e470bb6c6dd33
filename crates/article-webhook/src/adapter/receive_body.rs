use std::time::{Duration, SystemTime};

use super::{BodySource, before::before};
use crate::{
    answer::{DrainBudget, Refused},
    receiver::{Envelope, Intake, Receiver},
};

/// Receives the body of a request whose headers were checked, within the receiver's limit, and passes it
/// to `read`. After a refusal it drains part of the body, so that the sender sees the answer.
///
/// `opened` is what [`Receiver::open`] or one of its variants returned, and `read` is [`Intake::read`] or
/// [`Intake::article`]. `sleep` is the runtime's timer and limits the draining to 500 ms. `now` is for
/// the log, which has at most one line a second about unauthenticated requests.
///
/// # Errors
///
/// The headers were refused; the body is too long or ends with a [`BodyError`](super::BodyError); `read`
/// refused the body. Each is logged.
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
                // An empty chunk counts as one byte, so that draining ends even if the sender sends
                // nothing but empty chunks.
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
