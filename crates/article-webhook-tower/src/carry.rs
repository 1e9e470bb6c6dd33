use std::{
    error::Error,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use article_webhook::{Broken, Chunks};
use bytes::{Buf, Bytes};
use http_body::Body;
use pin_project_lite::pin_project;

pin_project! {
    /// The core's work on one side, the body that it reads on the other.
    ///
    /// The work has no name, so it is boxed, and a box must say whether it is `Send`. The body stays
    /// outside of the box: the whole is `Send` when the body is, and no body has to be.
    pub(crate) struct Carrying<B, T> {
        #[pin]
        body: B,
        hatch: Hatch,
        work: Pin<Box<dyn Future<Output = T> + Send>>,
    }
}

impl<B, T> Carrying<B, T> {
    pub(crate) fn new<W>(body: B, work: impl FnOnce(Hatch) -> W) -> Self
    where
        W: Future<Output = T> + Send + 'static,
    {
        let hatch = Hatch::default();
        let work = Box::pin(work(hatch.clone()));
        Self { body, hatch, work }
    }
}

impl<B, T> Future for Carrying<B, T>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut this = self.project();
        loop {
            if let Poll::Ready(done) = this.work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            // Both sides are polled by this task alone, so neither needs to wake the other.
            if !this.hatch.is_asked() {
                return Poll::Pending;
            }
            let chunk = ready!(poll_chunk(this.body.as_mut(), context));
            this.hatch.put(Chunk::There(chunk));
        }
    }
}

/// Where one side asks for a chunk of the body and the other puts it.
#[derive(Clone, Default)]
pub(crate) struct Hatch(Arc<Mutex<Chunk>>);

#[derive(Default)]
enum Chunk {
    #[default]
    NotAsked,
    Asked,
    There(Option<Result<Bytes, Broken>>),
}

impl Hatch {
    fn is_asked(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), Chunk::Asked)
    }

    fn put(&self, chunk: Chunk) -> Chunk {
        mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), chunk)
    }
}

impl Chunks for Hatch {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        std::future::poll_fn(|_| match self.put(Chunk::Asked) {
            Chunk::There(chunk) => {
                self.put(Chunk::NotAsked);
                Poll::Ready(chunk)
            }
            Chunk::NotAsked | Chunk::Asked => Poll::Pending,
        })
        .await
    }
}

/// The next chunk of the body, past its trailers.
fn poll_chunk<B>(
    mut body: Pin<&mut B>,
    context: &mut Context<'_>,
) -> Poll<Option<Result<Bytes, Broken>>>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>>,
{
    loop {
        match ready!(body.as_mut().poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(Broken::of(&*error.into())))),
            Some(Ok(frame)) => {
                if let Ok(mut data) = frame.into_data() {
                    let length = data.remaining();
                    return Poll::Ready(Some(Ok(data.copy_to_bytes(length))));
                }
            }
        }
    }
}
