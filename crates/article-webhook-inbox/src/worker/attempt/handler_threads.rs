use std::{
    collections::VecDeque,
    fmt, io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use super::handler_thread::HandlerRun;

/// How long a thread waits for a next handler. The threads of a burst may all stay while short handlers keep coming.
const IDLE: Duration = Duration::from_secs(10);

/// The threads in which the handlers of a worker run. A thread whose handler has ended waits a while for the next one, because
/// starting a thread takes longer than many a handler. A handler never waits for a thread.
pub(crate) struct HandlerThreads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Handlers that free threads are about to take: never more than those.
    runs: VecDeque<HandlerRun>,
    /// Threads that run no handler.
    free: usize,
    is_closed: bool,
}

impl HandlerThreads {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// Runs a handler in a free thread or in a new one.
    pub(super) fn run(&self, run: HandlerRun) -> io::Result<()> {
        let mut state = self.0.lock();
        if state.runs.len() < state.free {
            state.runs.push_back(run);
            self.0.changed.notify_one();
            return Ok(());
        }
        drop(state);
        let shared = Arc::clone(&self.0);
        let thread = thread::Builder::new().name("article-handler".to_owned());
        thread.spawn(move || shared.work(run)).map(drop)
    }
}

impl Drop for HandlerThreads {
    /// The threads that are free end.
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl fmt::Debug for HandlerThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerThreads").field("free", &self.0.lock().free).finish()
    }
}

impl Shared {
    fn work(&self, mut run: HandlerRun) {
        loop {
            let tell = run.run();
            // It is free before the result is known, so that the handler after it needs no other thread.
            self.lock().free += 1;
            tell();
            match self.next() {
                Some(next) => run = next,
                None => return,
            }
        }
    }

    /// The next handler for a thread that is free. `None`: the thread ends.
    fn next(&self) -> Option<HandlerRun> {
        let waits = |state: &mut State| state.runs.is_empty() && !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.lock(), IDLE, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.free -= 1;
        state.runs.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
