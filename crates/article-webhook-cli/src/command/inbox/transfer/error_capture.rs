use std::io::{self, ErrorKind, Write};

/// Keeps why a write failed: the inbox that writes calls that a failure of its own.
pub(crate) struct ErrorCapture<W> {
    pub(crate) inner: W,
    pub(crate) failed: Option<io::Error>,
}

impl<W> ErrorCapture<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, failed: None }
    }

    fn keep<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            // After an interruption it is written again.
            if kind != ErrorKind::Interrupted {
                self.failed.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for ErrorCapture<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes);
        self.keep(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.inner.flush();
        self.keep(flushed)
    }
}
