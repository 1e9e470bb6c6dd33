//! How a call reaches the connections, and what is done when SQLite reports damage to it.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::SqliteStore;
use crate::{
    Error,
    store::{
        sqlite::{
            connection::Access,
            damage::{Tx, build_again},
            fault::Fault,
            reader::Length,
            writer::{Answer, Undo, store_has_stopped},
        },
        store_trait::{Pending, Store},
    },
};

/// The memory that a call without a body takes while it waits.
pub(super) const CALL_BYTES: usize = 512;

/// What a call that writes does besides its transaction.
enum Effect<T> {
    /// It adds about this many bytes to the log.
    Adds(usize),
    /// What it erases must not stay in the log.
    Erases,
    /// It leases, and leases nothing for a caller that is gone.
    Leases(Undo<T>),
}

impl SqliteStore {
    /// Fails beside the receiver: what leases there would compete with what leases in the process with exclusive access.
    pub(super) fn has_exclusive_access(&self, what: &str) -> Result<(), Error> {
        match self.handle.access {
            Access::Exclusive => Ok(()),
            Access::Shared => Err(Error::unusable(format!(
                "a tool beside the receiver has no {what}: run it in the receiver's process"
            ))),
        }
    }

    /// Runs in the next transaction of the writer.
    pub(super) fn write<'a, T: Send + 'static>(
        &'a self,
        bytes: usize,
        run: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<'a, T> {
        self.write_as(Effect::Adds(bytes), run)
    }

    /// Runs in the next transaction of the writer, and removes the bytes that it erases from the log as well.
    pub(super) fn erase<'a, T: Send + 'static>(
        &'a self,
        run: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<'a, T> {
        self.write_as(Effect::Erases, run)
    }

    /// Runs a claim in the next transaction of the writer. If the future is dropped meanwhile, what it leases is given back
    /// by `release`.
    pub(super) fn lease<'a, T: Send + 'static>(
        &'a self,
        run: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
        release: fn(&Tx<'_>, &T) -> Result<(), Fault>,
    ) -> Pending<'a, T> {
        let (queue, findings) = (self.handle.queue.clone(), self.handle.findings.clone());
        let give_back = move |claims: T| {
            let findings = findings.clone();
            queue.push_undo(CALL_BYTES, move |connection, now| {
                release(&Tx::new(connection, &findings, now), &claims)
            });
        };
        self.write_as(Effect::Leases(Arc::new(give_back)), run)
    }

    fn write_as<'a, T: Send + 'static>(
        &'a self,
        effect: Effect<T>,
        run: impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Pending<'a, T> {
        let run = Arc::new(Mutex::new(run));
        Box::pin(async move {
            loop {
                match self.push(&effect, &run)?.wait().await {
                    Err(error) if error.is_damage() && self.can_go_on().await => {}
                    answer => return answer,
                }
            }
        })
    }

    fn push<T: Send + 'static>(
        &self,
        effect: &Effect<T>,
        run: &Arc<Mutex<impl FnMut(&Tx<'_>) -> Result<T, Fault> + Send + 'static>>,
    ) -> Result<Answer<T>, Error> {
        let (run, findings) = (Arc::clone(run), Arc::clone(&self.handle.findings));
        let run = move |connection: &Connection, now| {
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            run(&Tx::new(connection, &findings, now))
        };
        match effect {
            Effect::Adds(bytes) => self.handle.queue.push(*bytes, run),
            Effect::Erases => self.handle.queue.push_erasing(CALL_BYTES, run),
            Effect::Leases(undo) => self.handle.queue.push_or_undo(CALL_BYTES, run, undo.clone()),
        }
    }

    /// Runs on a connection that reads, in a thread that may block.
    pub(super) fn read<'a, T: Send + 'static>(
        &'a self,
        run: impl Fn(&Tx<'_>) -> Result<T, Fault> + Send + Sync + 'static,
    ) -> Pending<'a, T> {
        self.read_for(Length::Long, run)
    }

    /// The same for what takes as long for any number of entries. It does not wait for other reads.
    pub(super) fn read_quickly<'a, T: Send + 'static>(
        &'a self,
        run: impl Fn(&Tx<'_>) -> Result<T, Fault> + Send + Sync + 'static,
    ) -> Pending<'a, T> {
        self.read_for(Length::Quick, run)
    }

    fn read_for<'a, T: Send + 'static>(
        &'a self,
        length: Length,
        run: impl Fn(&Tx<'_>) -> Result<T, Fault> + Send + Sync + 'static,
    ) -> Pending<'a, T> {
        let run = Arc::new(run);
        Box::pin(async move {
            match self.read_once(length, &run).await {
                Err(error) if error.is_damage() && self.build_again().await => {
                    self.read_once(length, &run).await
                }
                answer => answer,
            }
        })
    }

    async fn read_once<T: Send + 'static>(
        &self,
        length: Length,
        run: &Arc<impl Fn(&Tx<'_>) -> Result<T, Fault> + Send + Sync + 'static>,
    ) -> Result<T, Error> {
        self.handle.check_open()?;
        let (run, findings, now) = (Arc::clone(run), Arc::clone(&self.handle.findings), self.now());
        let read = move |connection: &Connection| run(&Tx::new(connection, &findings, now));
        let reader = Arc::clone(&self.handle.reader);
        blocking(move || reader.read(length, read)).await
    }

    /// Whether a call that found damage may succeed now: what it cannot read is known, or the indexes were built again.
    async fn can_go_on(&self) -> bool {
        self.handle.findings.has_learned() || self.build_again().await
    }

    /// Builds the indexes again, because SQLite reported damage, unless that was tried some minutes ago. Whether it
    /// was done.
    async fn build_again(&self) -> bool {
        if !self.handle.findings.try_to_build_again() {
            return false;
        }
        let run = Arc::new(Mutex::new(build_again));
        let pushed = self.push(&Effect::Adds(CALL_BYTES), &run);
        match pushed {
            Ok(answer) => answer.wait().await.is_ok(),
            Err(_) => false,
        }
    }
}

/// Runs in a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(run).await.map_err(|_| store_has_stopped())?
}
