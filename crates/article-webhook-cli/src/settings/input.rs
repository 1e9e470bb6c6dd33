//! What a command is given in a file or on standard input. Either may be a pipe or a terminal, and then reading lasts
//! until they are written to. No signal ends a read that a command does not await, so it must be known that it lasts.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use tokio::{
    fs::File,
    io::{AsyncBufRead, BufReader, stdin},
};

static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Whether something is being read now.
pub(crate) fn is_awaited() -> bool {
    BEGUN.load(Ordering::SeqCst) > 0
}

/// Reads something, during which [`is_awaited`] holds.
pub(crate) fn awaited<T>(read: impl FnOnce() -> T) -> T {
    BEGUN.fetch_add(1, Ordering::SeqCst);
    let done = read();
    BEGUN.fetch_sub(1, Ordering::SeqCst);
    done
}

/// The lines of standard input.
pub(crate) fn standard() -> Box<dyn AsyncBufRead + Unpin> {
    Box::new(BufReader::new(stdin()))
}

/// The lines of a file.
pub(crate) async fn file(path: &Path) -> io::Result<Box<dyn AsyncBufRead + Unpin>> {
    Ok(Box::new(BufReader::new(File::open(path).await?)))
}
