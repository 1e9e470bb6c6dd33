use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use super::send_mode::SendMode;

/// The number of pieces of a slow body.
const PIECES: u32 = 20;

/// The body of a push, sent in its mode.
pub(crate) struct PushBody {
    rest: Bytes,
    mode: SendMode,
    piece: usize,
    pause: Option<Pin<Box<Sleep>>>,
}

impl PushBody {
    pub(crate) fn new(body: Bytes, mode: SendMode) -> Self {
        let pieces = if matches!(mode, SendMode::Slow(_)) { PIECES as usize } else { 1 };
        Self { piece: body.len().div_ceil(pieces).max(1), rest: body, mode, pause: None }
    }

    fn pause(&self) -> Option<Duration> {
        match self.mode {
            SendMode::Slow(whole) => Some(whole / PIECES),
            _ => None,
        }
    }
}

impl http_body::Body for PushBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(time) = self.pause() {
            let pause = self.pause.get_or_insert_with(|| Box::pin(sleep(time)));
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        let piece = self.piece.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    /// Without an exact size, hyper sends chunks.
    fn size_hint(&self) -> SizeHint {
        match self.mode {
            SendMode::Chunked => SizeHint::default(),
            _ => SizeHint::with_exact(self.rest.len() as u64),
        }
    }
}
