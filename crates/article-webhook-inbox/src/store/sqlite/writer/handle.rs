use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use super::{
    command_queue::CommandQueue,
    committer::Committer,
    status::Status,
    thread::WriterThread,
    write_connection::{Shared, WriteConnection},
};
use crate::{
    Clock, Error,
    store::sqlite::{connection::Access, damage::Findings, reader::Reader},
};

/// What the clones of a store share. Dropping it ends the writer and waits for its end.
pub(in crate::store::sqlite) struct Handle {
    pub(in crate::store::sqlite) path: PathBuf,
    pub(in crate::store::sqlite) clock: Clock,
    pub(in crate::store::sqlite) access: Access,
    pub(in crate::store::sqlite) queue: Arc<CommandQueue>,
    pub(in crate::store::sqlite) reader: Arc<Reader>,
    pub(in crate::store::sqlite) status: Arc<Status>,
    pub(in crate::store::sqlite) findings: Arc<Findings>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Handle {
    /// Starts the writer.
    pub(in crate::store::sqlite) fn start(
        shared: Shared,
        connection: WriteConnection,
    ) -> Result<Self, Error> {
        let Shared { path, clock, reader, status, findings } = shared;
        let (queue, access) = (Arc::new(CommandQueue::new()), connection.access());
        let committer = Committer::new(queue.clone(), clock.clone(), connection);
        let writer = WriterThread { queue: queue.clone(), reader: reader.clone(), committer };
        let thread = Mutex::new(Some(writer.start()?));
        Ok(Self { path, clock, access, queue, reader, status, findings, thread })
    }

    /// Refuses a call after `close`.
    pub(in crate::store::sqlite) fn check_open(&self) -> Result<(), Error> {
        if self.queue.is_closed() { Err(Error::closed()) } else { Ok(()) }
    }

    /// Waits for the writer's end.
    pub(in crate::store::sqlite) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
        self.join();
    }
}
