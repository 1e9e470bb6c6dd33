use std::{sync::Arc, time::SystemTime};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::store_has_stopped;
use crate::{
    Error,
    store::sqlite::{connection::PAGE_BYTES, fault::Fault},
};

/// What a call adds to the log besides its body, roughly: pages of entries, of their indexes, and of bodies.
const WAL_BYTES: u64 = 4 * PAGE_BYTES as u64;

/// A call that writes: its work in a transaction, and its reply to the caller.
pub(super) trait Command: Send {
    /// Runs in a transaction. It may run again in another one, if the first failed for another call.
    fn run(&mut self, tx: &Connection, now: SystemTime) -> Result<(), Fault>;
    /// Sends the result to the caller, after the transaction was committed or failed.
    fn answer(self: Box<Self>, failure: Option<Error>);
    /// Whether the bytes that it removes must be removed from the log as well.
    fn erases(&self) -> bool;
    /// How many bytes it adds to the log, roughly.
    fn wal_bytes(&self) -> u64;
}

/// Undoes what a call has committed, because its caller has dropped its future.
pub(in crate::store::sqlite) type Undo<T> = Arc<dyn Fn(T) + Send + Sync>;

/// What a call has committed, on its way to the caller. Dropping it undoes the call, if it can be undone.
struct Committed<T> {
    value: Option<T>,
    undo: Option<Undo<T>>,
}

impl<T> Committed<T> {
    fn received(mut self) -> T {
        self.value.take().expect("it is received once")
    }
}

impl<T> Drop for Committed<T> {
    fn drop(&mut self) {
        if let (Some(value), Some(undo)) = (self.value.take(), &self.undo) {
            undo(value);
        }
    }
}

/// The result of a call, once its transaction has ended.
pub(in crate::store::sqlite) struct Answer<T>(oneshot::Receiver<Result<Committed<T>, Error>>);

impl<T> Answer<T> {
    /// Waits for the result.
    pub(in crate::store::sqlite) async fn wait(self) -> Result<T, Error> {
        self.0.await.map_err(|_| store_has_stopped())?.map(Committed::received)
    }

    /// Waits for the result, in a thread that may block.
    pub(in crate::store::sqlite) fn wait_in_a_thread(self) -> Result<T, Error> {
        self.0.blocking_recv().map_err(|_| store_has_stopped())?.map(Committed::received)
    }

    /// The result, if it has arrived; `None` if no result will arrive.
    #[cfg(test)]
    pub(super) fn now(&mut self) -> Option<Result<T, Error>> {
        match self.0.try_recv() {
            Ok(answer) => Some(answer.map(Committed::received)),
            Err(oneshot::error::TryRecvError::Closed) => None,
            Err(oneshot::error::TryRecvError::Empty) => panic!("the call is still waiting"),
        }
    }
}

/// A closure as a command.
pub(super) struct Call<T, F> {
    run: F,
    value: Option<T>,
    caller: oneshot::Sender<Result<Committed<T>, Error>>,
    undo: Option<Undo<T>>,
    bytes: usize,
    erases: bool,
}

impl<T, F> Call<T, F> {
    /// A call that uses this much memory while it waits.
    pub(super) fn new(bytes: usize, run: F) -> (Self, Answer<T>) {
        let (caller, answer) = oneshot::channel();
        let call = Self { run, value: None, caller, undo: None, bytes, erases: false };
        (call, Answer(answer))
    }

    /// The same call, which also removes its erased bytes from the log.
    pub(super) fn erasing(self) -> Self {
        Self { erases: true, ..self }
    }

    /// The same call, which is undone if its caller is gone once it is committed.
    pub(super) fn or_undone(self, undo: Undo<T>) -> Self {
        Self { undo: Some(undo), ..self }
    }
}

impl<T, F> Command for Call<T, F>
where
    T: Send,
    F: FnMut(&Connection, SystemTime) -> Result<T, Fault> + Send,
{
    fn run(&mut self, tx: &Connection, now: SystemTime) -> Result<(), Fault> {
        self.value = Some((self.run)(tx, now)?);
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<Error>) {
        let answer = match (failure, self.value) {
            (None, Some(value)) => Ok(Committed { value: Some(value), undo: self.undo }),
            (Some(error), _) => Err(error),
            (None, None) => Err(store_has_stopped()),
        };
        // The caller may have dropped its future. Then the answer is dropped here.
        let _ = self.caller.send(answer);
    }

    fn erases(&self) -> bool {
        self.erases
    }

    fn wal_bytes(&self) -> u64 {
        self.bytes as u64 + WAL_BYTES
    }
}
