//! Reads and writes at an offset of a file, by any thread.

use std::{fs::File, io};

#[cfg(unix)]
pub(crate) fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
pub(crate) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Elsewhere an operation moves the position that all handles share, so one thread does so at a time.
#[cfg(not(unix))]
static MOVED: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    use io::{Read, Seek};

    let _moved = MOVED.lock();
    file.seek(io::SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(crate) fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    use io::{Seek, Write};

    let _moved = MOVED.lock();
    file.seek(io::SeekFrom::Start(offset))?;
    file.write_all(bytes)
}
