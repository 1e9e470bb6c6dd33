use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;

use super::{connection, fault::Fault, schema};
use crate::Error;

/// The connections that read. They never block the one that writes.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    quick: Mutex<State>,
    long: Mutex<State>,
}

/// How long a read takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// The same time for any number of entries. It does not wait for long reads.
    Quick,
    /// It grows with the number of entries.
    Long,
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
        Self { path, quick: Mutex::new(State::Missing), long: Mutex::new(State::Missing) }
    }

    /// Reads in one snapshot.
    pub(super) fn read<T>(
        &self,
        length: Length,
        read: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Error> {
        let mut state = lock(match length {
            Length::Quick => &self.quick,
            Length::Long => &self.long,
        });
        if let State::Missing = *state {
            *state = State::Open(connection::open_reader(&self.path)?);
        }
        let State::Open(connection) = &mut *state else {
            return Err(Error::closed());
        };
        let begun = connection.execute_batch("BEGIN").map_err(Fault::from);
        let answer = begun.and_then(|()| read(connection));
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        match answer {
            // The schema may wait for its next version, or have a later one.
            Err(fault) if fault.is_of_the_statement() => {
                schema::check_current(connection, &self.path)?;
                Err(fault.into())
            }
            Err(fault) => {
                if fault.is_of_the_connection() {
                    *state = State::Missing;
                }
                Err(fault.into())
            }
            Ok(read) => Ok(read),
        }
    }

    /// Closes the connections. The next call opens another one.
    pub(super) fn reset(&self) {
        for mut state in [&self.quick, &self.long].map(lock) {
            if let State::Open(_) = *state {
                *state = State::Missing;
            }
        }
    }

    pub(super) fn close(&self) {
        for mut state in [&self.quick, &self.long].map(lock) {
            *state = State::Closed;
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_quick_read_does_not_wait_for_a_long_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        std::fs::File::create(&path).unwrap();
        let reader = Arc::new(Reader::new(path));
        let (read, seen) = mpsc::channel();
        let quick = Arc::clone(&reader);
        reader
            .read(Length::Long, |_| {
                thread::spawn(move || read.send(quick.read(Length::Quick, |_| Ok(1)).unwrap()));
                assert_eq!(seen.recv_timeout(Duration::from_secs(10)), Ok(1));
                Ok(())
            })
            .unwrap();
        reader.close();
        assert!(reader.read(Length::Quick, |_| Ok(())).is_err());
        assert!(reader.read(Length::Long, |_| Ok(())).is_err());
    }
}
