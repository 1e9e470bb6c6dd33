//! What a command is given in a file or on standard input. Either may be a pipe or a terminal, and then reading lasts
//! until they are written to. No signal ends it, so it must be known that it lasts.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, stdin},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Whether something is being read now.
pub(crate) fn is_awaited() -> bool {
    BEGUN.load(Ordering::SeqCst) > 0
}

/// Opens or reads something, during which [`is_awaited`] holds.
pub(crate) fn awaited<T>(read: impl FnOnce() -> T) -> T {
    BEGUN.fetch_add(1, Ordering::SeqCst);
    let done = read();
    BEGUN.fetch_sub(1, Ordering::SeqCst);
    done
}

/// The lines of standard input.
pub(crate) fn standard() -> Box<dyn BufRead> {
    Box::new(BufReader::new(Awaited(stdin())))
}

/// The lines of a file.
pub(crate) fn file(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = awaited(|| File::open(path))?;
    Ok(Box::new(BufReader::new(Awaited(file))))
}

struct Awaited<R>(R);

impl<R: Read> Read for Awaited<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        awaited(|| self.0.read(to))
    }
}
