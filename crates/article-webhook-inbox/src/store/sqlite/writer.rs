//! The thread that owns the connection that writes. Calls wait in a channel. The thread commits all that wait in one
//! transaction, so that they share one sync of the disk, and answers them after that.

mod calls;
mod connection;
mod copy_ahead;
mod shared;
mod start;
mod thread;

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use self::{calls::Calls, thread::WriterThread};
pub(super) use self::{
    connection::WriteConnection,
    shared::{Shared, store_has_stopped},
    start::try_start,
};
use super::connection::Access;
use crate::Error;

/// The writer, as the clones of a store share it. Dropping it ends the thread and waits for its end.
pub(super) struct Writer {
    pub(super) shared: Shared,
    pub(super) access: Access,
    pub(super) calls: Arc<Calls>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(shared: Shared, connection: WriteConnection) -> Result<Self, Error> {
        let access = connection.access();
        let (calls, groups) = calls::channel();
        let calls = Arc::new(calls);
        let thread = WriterThread::new(groups, shared.clone(), connection);
        let thread = Mutex::new(Some(thread.start(Arc::clone(&calls))?));
        Ok(Self { shared, access, calls, thread })
    }

    /// Refuses a call after the end.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        if self.calls.is_closed() { Err(Error::closed()) } else { Ok(()) }
    }

    /// Waits for the end of the thread, which comes when the calls are closed and all of them are answered.
    pub(super) fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.calls.close();
        self.join();
    }
}
