use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;

use super::{connection, fault::Fault};
use crate::Error;

/// The connection that reads. It never blocks the one that writes.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Open(Connection),
    /// Not opened yet, or failed. The next call opens a connection.
    Missing,
    Closed,
}

impl Reader {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, state: Mutex::new(State::Missing) }
    }

    /// Reads in one snapshot.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Missing = *state {
            *state = State::Open(connection::open_reader(&self.path)?);
        }
        let State::Open(connection) = &*state else {
            return Err(Error::closed());
        };
        let answer =
            connection.unchecked_transaction().map_err(Fault::from).and_then(|tx| read(&tx));
        if answer.as_ref().is_err_and(Fault::is_of_the_connection) {
            *state = State::Missing;
        }
        answer.map_err(Error::from)
    }

    /// Closes the connection. The next call opens another one.
    pub(super) fn reset(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(_) = *state {
            *state = State::Missing;
        }
    }

    pub(super) fn close(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Closed;
    }
}
