use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::InterruptHandle;

/// How large the log may become before the search gives way to it for the first time.
const FIRST: u64 = 256 << 20;

/// How often the search gives way to calls that erase. Without a limit it might never end.
const ERASURES: u32 = 8;

/// A search in the background, as the writer sees it. While one of its statements runs, which may take long, the log
/// cannot be emptied.
#[derive(Default)]
pub(in crate::store::sqlite) struct Search(Mutex<State>);

#[derive(Default)]
struct State {
    /// Where its statements run; `None` while it rests, and if there is none.
    runs: Option<InterruptHandle>,
    gave_way_to_log: u32,
    gave_way_to_erasures: u32,
}

/// An attempt of the search. It has ended when this is dropped, also by a panic.
pub(super) struct Running(Arc<Search>);

impl Search {
    /// Ends what runs, so that erased bytes can be removed from the log. The search begins again a little later.
    pub(in crate::store::sqlite::writer) fn give_way(&self) {
        let state = &mut *self.state();
        if let Some(runs) = state.runs.as_ref().filter(|_| state.gave_way_to_erasures < ERASURES) {
            state.gave_way_to_erasures += 1;
            runs.interrupt();
        }
    }

    /// Whether the search goes on beside a log of this size. Otherwise what runs is ended, and begins again a little
    /// later. Each attempt lets the log become twice as large as the one before, so that one of them ends.
    pub(in crate::store::sqlite::writer) fn goes_on(&self, wal_bytes: u64) -> bool {
        let state = &mut *self.state();
        let Some(runs) = &state.runs else { return false };
        if wal_bytes <= FIRST << state.gave_way_to_log.min(32) {
            return true;
        }
        state.gave_way_to_log += 1;
        runs.interrupt();
        false
    }

    pub(super) fn begin(self: &Arc<Self>, runs: InterruptHandle) -> Running {
        self.state().runs = Some(runs);
        Running(Arc::clone(self))
    }

    /// Ends what runs.
    pub(in crate::store::sqlite::writer) fn interrupt(&self) {
        if let Some(runs) = &self.state().runs {
            runs.interrupt();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.state().runs = None;
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn each_attempt_lets_the_log_become_twice_as_large() {
        let search = Arc::<Search>::default();
        let connection = Connection::open_in_memory().unwrap();
        assert!(!search.goes_on(1), "there is none");
        let running = search.begin(connection.get_interrupt_handle());
        for most in [FIRST, 2 * FIRST, 4 * FIRST] {
            assert!(search.goes_on(most));
            assert!(!search.goes_on(most + 1));
        }
        drop(running);
        assert!(!search.goes_on(1), "it has ended");
    }
}
