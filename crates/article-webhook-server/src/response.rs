use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Either, Full};
use pin_project_lite::pin_project;

use crate::{app::BoxError, seat::Seat};

pin_project! {
    /// The body of an answer, the service's or our own. hyper drops it when it has taken the last of it.
    pub(crate) struct Outgoing<B> {
        #[pin]
        body: Either<B, Full<Bytes>>,
        told: Told,
    }
}

impl<B> Outgoing<B> {
    pub(crate) fn new(body: Either<B, Full<Bytes>>, seat: Arc<Seat>) -> Self {
        Self { body, told: Told(seat) }
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Body for Outgoing<B> {
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

struct Told(Arc<Seat>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.told();
    }
}
