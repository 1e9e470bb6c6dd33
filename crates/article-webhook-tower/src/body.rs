use std::{error::Error, future::poll_fn, pin::Pin, time::SystemTime};

use article_webhook::{
    Envelope, Receiver, Refused,
    adapter::{self, BodyError, BodySource, Intake},
};
use bytes::{Buf, Bytes};
use http_body::Body;
use http_body_util::LengthLimitError;
use tokio::time::sleep;

/// The bodies that the services accept: every [`Body`] that is `Send`, with data that is `Send` and an error that can
/// be boxed. It is implemented for all of them.
///
/// ```
/// use article_webhook_tower::RequestBody;
/// use bytes::Bytes;
/// use http_body_util::Full;
///
/// fn is_accepted<B: RequestBody>() {}
///
/// is_accepted::<Full<Bytes>>();
/// is_accepted::<axum::body::Body>();
/// ```
///
/// ```compile_fail
/// fn is_accepted<B: article_webhook_tower::RequestBody>() {}
///
/// is_accepted::<std::rc::Rc<str>>(); // not a body, and not Send
/// ```
pub trait RequestBody:
    Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static
{
}

impl<B> RequestBody for B where
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static
{
}

/// Receives the body of a request whose head was checked.
pub(crate) async fn receive_body<B: RequestBody, T>(
    receiver: &Receiver,
    opened: Result<Envelope, Refused>,
    body: B,
    read: impl FnOnce(Intake) -> Result<T, Refused>,
) -> Result<T, Refused> {
    let mut body = Frames(Box::pin(body));
    adapter::receive_body(receiver, opened, &mut body, sleep, SystemTime::now(), read).await
}

struct Frames<B>(Pin<Box<B>>);

impl<B: RequestBody> BodySource for Frames<B> {
    async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        loop {
            match poll_fn(|context| self.0.as_mut().poll_frame(context)).await? {
                Err(error) => {
                    let is_limit = |cause: &(dyn Error + 'static)| cause.is::<LengthLimitError>();
                    return Some(Err(BodyError::from_source(&*error.into(), is_limit)));
                }
                Ok(frame) => {
                    if let Ok(mut data) = frame.into_data() {
                        let length = data.remaining();
                        return Some(Ok(data.copy_to_bytes(length)));
                    }
                }
            }
        }
    }
}
