//! Lines that a thread of their own writes, so that a reader that stops reading holds up nothing else.

use std::{
    collections::VecDeque,
    fmt,
    io::{self, ErrorKind, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::sync::watch;

/// How many bytes of lines wait. A line that is longer waits alone.
const MOST: usize = 1 << 20;

/// Standard output or standard error.
type Stream = Box<dyn Write + Send>;

/// The line that says how many were lost, in the form of the output.
type LostLine = Box<dyn Fn(u64) -> String + Send + Sync>;

/// Lines that wait to be written. Clones share them.
#[derive(Clone)]
pub(super) struct Queue(Arc<Shared>);

struct Shared {
    lost_line: LostLine,
    state: Mutex<State>,
    changed: Condvar,
    /// Whether the reader has ended.
    unread: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// The bytes of the lines that wait, and of the one that is being written.
    bytes: usize,
    /// Why the last line that could not be written was lost, although the reader had not ended.
    failed: Option<ErrorKind>,
}

enum Waiting {
    Line(String),
    /// How many lines did not fit here.
    Lost(u64),
}

impl Queue {
    /// Starts the thread, which ends with the process.
    pub(super) fn new(stream: impl Write + Send + 'static, line: LostLine) -> io::Result<Self> {
        let (state, changed, unread) =
            (Mutex::default(), Condvar::new(), watch::Sender::new(false));
        let queue = Self(Arc::new(Shared { lost_line: line, state, changed, unread }));
        let writing = queue.clone();
        let thread = thread::Builder::new().name("output".into());
        thread.spawn(move || writing.write(Box::new(stream)))?;
        Ok(queue)
    }

    /// Adds a line, which ends with its line end. One that does not fit is counted, and the count is written in its place.
    pub(super) fn push(&self, line: String) {
        let mut state = self.state();
        if state.bytes == 0 || state.bytes + line.len() <= MOST {
            state.bytes += line.len();
            state.waiting.push_back(Waiting::Line(line));
        } else if let Some(Waiting::Lost(lost)) = state.waiting.back_mut() {
            *lost += 1;
        } else {
            state.waiting.push_back(Waiting::Lost(1));
        }
        self.0.changed.notify_all();
    }

    /// Resolves when the reader has ended.
    pub(super) async fn unread(&self) {
        // The sender is in `self`.
        let _ = self.0.unread.subscribe().wait_for(|unread| *unread).await;
    }

    /// Why a line could not be written, if the reader has not ended.
    pub(super) fn failed(&self) -> Option<ErrorKind> {
        self.state().failed
    }

    /// Waits until every line is written, but not for longer.
    pub(super) fn flush(&self, timeout: Duration) {
        let is_busy = |state: &mut State| state.bytes > 0 || !state.waiting.is_empty();
        // Lines that are still left then are lost when the process ends.
        drop(self.0.changed.wait_timeout_while(self.state(), timeout, is_busy));
    }

    fn write(&self, mut stream: Stream) {
        loop {
            let line = self.next();
            let written = stream.write_all(line.as_bytes()).and_then(|()| stream.flush());
            let mut state = self.state();
            state.bytes -= line.len();
            match written.map_err(|error| error.kind()) {
                Err(ErrorKind::BrokenPipe) => {
                    *state = State::default();
                    self.0.unread.send_replace(true);
                }
                // What else may go wrong, such as a full disk, may be over by the next line.
                Err(other) => state.failed = Some(other),
                Ok(()) => {}
            }
            self.0.changed.notify_all();
        }
    }

    /// Waits for what is to be written. Its bytes count until it is.
    fn next(&self) -> String {
        let mut state = self.state();
        loop {
            match state.waiting.pop_front() {
                Some(Waiting::Line(line)) => return line,
                Some(Waiting::Lost(lost)) => {
                    let line = (self.0.lost_line)(lost);
                    state.bytes += line.len();
                    return line;
                }
                None => {
                    let woken = self.0.changed.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}
