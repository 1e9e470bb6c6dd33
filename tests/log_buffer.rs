//! A log in memory.

use std::{
    io, mem,
    sync::{Mutex, PoisonError},
};

/// What a program has logged.
#[derive(Debug, Default)]
pub struct LogBuffer(Mutex<Vec<u8>>);

impl LogBuffer {
    /// An empty log.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// What was written until now.
    pub fn text(&self) -> String {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log).into_owned()
    }

    /// What was written since the last time.
    pub fn take(&self) -> String {
        let log = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl io::Write for &LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
