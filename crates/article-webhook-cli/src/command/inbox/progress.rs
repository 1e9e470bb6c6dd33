use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    time::{Duration, Instant},
};

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
pub(super) struct Counting<'a, T> {
    inner: T,
    count: Count,
    output: &'a Output,
}

struct Count {
    verb: &'static str,
    whole: Whole,
    lines: u64,
    bytes: u64,
    start: Instant,
}

impl Count {
    fn add(&mut self, bytes: &[u8], output: &Output) {
        let before = self.lines / STEP;
        self.lines += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        self.bytes += bytes.len() as u64;
        if self.lines / STEP > before {
            output.progress(&self.text(self.start.elapsed()));
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

impl<'a, T> Counting<'a, T> {
    pub(super) fn new(inner: T, verb: &'static str, whole: Whole, output: &'a Output) -> Self {
        let count = Count { verb, whole, lines: 0, bytes: 0, start: Instant::now() };
        Self { inner, count, output }
    }
}

impl<T: Write> Write for Counting<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count.add(&bytes[..written], self.output);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Counting<'_, T> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        self.count.add(&to[..read], self.output);
        Ok(read)
    }
}

/// Counts anew what is read again.
impl<T: Seek> Seek for Counting<'_, T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.count = Count { lines: 0, bytes: 0, start: Instant::now(), ..self.count };
        self.inner.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_where_the_whole_is_known() {
        let text = |whole| {
            let count =
                Count { verb: "read", whole, lines: 500, bytes: 2000, start: Instant::now() };
            count.text(Duration::from_secs(10))
        };
        assert_eq!(text(Whole::Unknown), "read 500 entries");
        assert_eq!(text(Whole::Lines(2000)), "read 500 entries, 25 %, 30 s left");
        assert_eq!(text(Whole::Bytes(20_000)), "read 500 entries, 10 %, 90 s left");
        assert_eq!(text(Whole::Lines(499)), "read 500 entries, 100 %, 0 s left");
    }
}
