use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Either, Full};
use pin_project_lite::pin_project;

use super::http_service::BoxError;
use crate::slot::ConnectionSlot;

pin_project! {
    /// The body of a response, of the service or of the server itself. hyper drops it after its last part.
    pub(crate) struct ResponseBody<B> {
        #[pin]
        body: Either<B, Full<Bytes>>,
        complete: NotifyOnDrop,
    }
}

impl<B> ResponseBody<B> {
    pub(crate) fn new(body: Either<B, Full<Bytes>>, slot: Arc<ConnectionSlot>) -> Self {
        Self { body, complete: NotifyOnDrop(slot) }
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.project().body.poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct NotifyOnDrop(Arc<ConnectionSlot>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.response_complete();
    }
}
