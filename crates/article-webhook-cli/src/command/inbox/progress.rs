use std::{
    io::{self, SeekFrom},
    pin::Pin,
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};

use crate::{
    output::{Output, rest},
    text::entries,
};

/// How many lines are read or written between two signs of progress.
const STEP: u64 = 500;

/// How much there is to do, if that is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whole {
    Lines(u64),
    Bytes(u64),
    Unknown,
}

/// Shows the number of lines that pass, how much of the whole that is, and how long the rest takes.
pub(super) struct Count<'a> {
    verb: &'static str,
    whole: Whole,
    lines: u64,
    bytes: u64,
    start: Instant,
    output: &'a Output,
}

impl<'a> Count<'a> {
    pub(super) fn new(verb: &'static str, whole: Whole, output: &'a Output) -> Self {
        Self { verb, whole, lines: 0, bytes: 0, start: Instant::now(), output }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let before = self.lines / STEP;
        self.lines += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        self.bytes += bytes.len() as u64;
        if self.lines / STEP > before {
            self.output.progress(&self.text(self.start.elapsed()));
        }
    }

    fn text(&self, lasted: Duration) -> String {
        let text = format!("{} {}", self.verb, entries(self.lines));
        let (done, whole) = match self.whole {
            Whole::Lines(whole) => (self.lines, whole),
            Whole::Bytes(whole) => (self.bytes, whole),
            Whole::Unknown => return text,
        };
        format!("{text}, {}", rest(done, whole, lasted))
    }
}

/// Counts the lines that are read.
pub(super) struct Counting<'a, T> {
    pub(super) inner: T,
    pub(super) count: Count<'a>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Counting<'_, T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, to))?;
        self.count.add(&to.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

/// Starts the count again when the input is read again.
impl<T: AsyncSeek + Unpin> AsyncSeek for Counting<'_, T> {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.count = Count::new(self.count.verb, self.count.whole, self.count.output);
        Pin::new(&mut self.inner).start_seek(to)
    }

    fn poll_complete(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut self.inner).poll_complete(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Format;

    #[test]
    fn what_is_left_is_shown_where_the_whole_is_known() {
        let output = Output::new(Format::Human);
        let text = |whole| {
            let count = Count { lines: 500, bytes: 2000, ..Count::new("read", whole, &output) };
            count.text(Duration::from_secs(10))
        };
        assert_eq!(text(Whole::Unknown), "read 500 entries");
        assert_eq!(text(Whole::Lines(2000)), "read 500 entries, 25 %, 30 s left");
        assert_eq!(text(Whole::Bytes(20_000)), "read 500 entries, 10 %, 90 s left");
        assert_eq!(text(Whole::Lines(499)), "read 500 entries, 100 %, 0 s left");
    }
}
