use std::time::SystemTime;

use actix_web::{dev::Payload, rt::time::sleep, web::Bytes};
use article_webhook::{
    Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake},
};
use futures_util::StreamExt;

/// Receives the body of a request whose head was checked. Also returns the payload: the response to a
/// refusal must own its unread rest, see [`response`](crate::response::response).
pub(crate) async fn receive_body<T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    payload: Payload,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> (Result<T, Refused>, Payload) {
    let mut body = PayloadBody(payload);
    let received =
        adapter::receive_body(receiver, opened, &mut body, sleep, SystemTime::now(), read).await;
    (received, body.0)
}

struct PayloadBody(Payload);

impl BodySource for PayloadBody {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        let chunk = self.0.next().await?;
        Some(chunk.map_err(|error| BodyError::from_source(&error)))
    }
}
