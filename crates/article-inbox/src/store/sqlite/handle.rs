use std::{
    fs::File,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use rusqlite::Connection;

use super::{connection::Role, line::Line, place, reader::Reader, writer::Writer};
use crate::{Clock, Error};

/// What the clones of a store share. Dropping it ends the writer, and waits for that.
pub(super) struct Handle {
    pub(super) path: PathBuf,
    pub(super) clock: Clock,
    pub(super) role: Role,
    pub(super) line: Arc<Line>,
    pub(super) reader: Arc<Reader>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Handle {
    /// Starts the writer.
    pub(super) fn start(
        path: PathBuf,
        clock: Clock,
        connection: Connection,
        role: Role,
        lock: Option<File>,
    ) -> Result<Self, Error> {
        let line = Arc::new(Line::new());
        let reader = Arc::new(Reader::new(path.clone()));
        let writer = Writer {
            line: line.clone(),
            reader: reader.clone(),
            clock: clock.clone(),
            path: path.clone(),
            role,
            connection: Some(connection),
            lock,
            identity: place::identity(&path),
        };
        let thread = Mutex::new(Some(writer.start()?));
        Ok(Self { path, clock, role, line, reader, thread })
    }

    /// Refuses what comes after the end.
    pub(super) fn open(&self) -> Result<(), Error> {
        if self.line.is_closed() { Err(Error::closed()) } else { Ok(()) }
    }

    /// Waits for the writer's end.
    pub(super) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // If it panicked, it has said so itself.
            let _ = thread.join();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.line.close();
        self.join();
    }
}
