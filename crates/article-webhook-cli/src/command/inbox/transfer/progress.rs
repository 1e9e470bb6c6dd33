use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

use crate::{output::Output, text::number::entries};

/// How many lines are read or written between two signs of progress.
const STEP: u64 = 500;

/// Shows the number of lines that pass.
pub(crate) struct Counting<'a, T> {
    inner: T,
    verb: &'static str,
    lines: u64,
    output: &'a Output,
}

impl<'a, T> Counting<'a, T> {
    pub(crate) fn new(inner: T, verb: &'static str, output: &'a Output) -> Self {
        Self { inner, verb, lines: 0, output }
    }

    pub(crate) fn into_inner(self) -> T {
        self.output.progress("");
        self.inner
    }

    fn count(lines: &mut u64, verb: &str, output: &Output, bytes: &[u8]) {
        let before = *lines / STEP;
        *lines += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        if *lines / STEP > before {
            output.progress(&format!("{verb} {}", entries(*lines)));
        }
    }
}

impl<T: Write> Write for Counting<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        Self::count(&mut self.lines, self.verb, self.output, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: BufRead> Read for Counting<'_, T> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.inner.read(to)
    }
}

/// Counts anew what is read again.
impl<T: Seek> Seek for Counting<'_, T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.lines = 0;
        self.inner.seek(to)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        self.inner.stream_position()
    }
}

impl<T: BufRead> BufRead for Counting<'_, T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // What is consumed was in the buffer already, so that this reads nothing. At the end it would read again, and a
        // terminal would wait for another end.
        if amount > 0
            && let Ok(buffer) = self.inner.fill_buf()
        {
            Self::count(
                &mut self.lines,
                self.verb,
                self.output,
                &buffer[..amount.min(buffer.len())],
            );
        }
        self.inner.consume(amount);
    }
}
