use std::{error::Error, time::SystemTime};

use article_webhook::{
    Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake},
};
use axum_core::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError};
use tokio::time::sleep;

/// Receives the body of a request whose head was checked.
pub(crate) async fn receive_body<T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    body: Body,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let mut body = Frames(body);
    adapter::receive_body(receiver, opened, &mut body, sleep, SystemTime::now(), read).await
}

struct Frames(Body);

impl BodySource for Frames {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        loop {
            match self.0.frame().await?.map(|frame| frame.into_data()) {
                Ok(Ok(chunk)) => return Some(Ok(chunk)),
                Ok(Err(_trailers)) => {}
                Err(error) => {
                    let is_limit = |cause: &(dyn Error + 'static)| cause.is::<LengthLimitError>();
                    return Some(Err(BodyError::from_source(&error, is_limit)));
                }
            }
        }
    }
}
