use std::time::SystemTime;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failure::store_has_stopped;
use crate::{
    Error,
    script::Effect,
    store::sqlite::{connection::PAGE_BYTES, damage::Findings, fault::Fault},
};

/// What a call adds to the log besides the bytes that it brings, roughly: pages of tables and of indexes.
const WAL_BYTES: u64 = 4 * PAGE_BYTES as u64;

/// A call that waits for the writer.
pub(super) trait Command: Send {
    /// Runs in the transaction. It may run again in another one, if another command of the group fails.
    fn run(
        &mut self,
        connection: &mut Connection,
        now: SystemTime,
        findings: &Findings,
    ) -> Result<(), Fault>;

    /// Answers the caller: with what the last run returned, or with a failure.
    fn answer(self: Box<Self>, failure: Option<Error>);

    /// Whether the log must be emptied before the answer.
    fn erases(&self) -> bool;

    /// What it adds to the log, roughly.
    fn wal_bytes(&self) -> u64;
}

/// What a caller waits for.
pub(in crate::store::sqlite) struct Answer<T>(oneshot::Receiver<Result<T, Error>>);

impl<T> Answer<T> {
    pub(in crate::store::sqlite) async fn wait(self) -> Result<T, Error> {
        self.0.await.map_err(|_| store_has_stopped())?
    }

    #[cfg(test)]
    pub(super) fn now(&mut self) -> Option<Result<T, Error>> {
        match self.0.try_recv() {
            Ok(answer) => Some(answer),
            Err(oneshot::error::TryRecvError::Closed) => None,
            Err(oneshot::error::TryRecvError::Empty) => panic!("the call is still waiting"),
        }
    }
}

/// A call, and what its last run returned.
pub(super) struct Call<T, F> {
    run: F,
    value: Option<T>,
    caller: oneshot::Sender<Result<T, Error>>,
    effect: Effect,
}

impl<T, F> Call<T, F> {
    pub(super) fn new(effect: Effect, run: F) -> (Self, Answer<T>) {
        let (caller, answer) = oneshot::channel();
        (Self { run, value: None, caller, effect }, Answer(answer))
    }
}

impl<T, F> Command for Call<T, F>
where
    T: Send,
    F: FnMut(&mut Connection, SystemTime, &Findings) -> Result<T, Fault> + Send,
{
    fn run(
        &mut self,
        connection: &mut Connection,
        now: SystemTime,
        findings: &Findings,
    ) -> Result<(), Fault> {
        self.value = Some((self.run)(connection, now, findings)?);
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<Error>) {
        let answer = match (failure, self.value) {
            (None, Some(value)) => Ok(value),
            (Some(error), _) => Err(error),
            (None, None) => Err(store_has_stopped()),
        };
        // The caller may have dropped its future. Then the answer is dropped here.
        let _ = self.caller.send(answer);
    }

    fn erases(&self) -> bool {
        self.effect == Effect::Erases
    }

    fn wal_bytes(&self) -> u64 {
        self.effect.bytes() as u64 + WAL_BYTES
    }
}
