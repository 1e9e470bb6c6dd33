use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    connection::{COMMAND_BYTES, LIMITS},
    fault::Fault,
};
use crate::{
    Error,
    rules::group::{Group, Queue, Refusal},
};

/// Where calls wait for the writer.
pub(super) struct Line {
    queue: Mutex<Commands>,
    changed: Condvar,
    start: Instant,
}

/// What a caller waits for.
pub(super) type Answer<T> = oneshot::Receiver<Result<T, Error>>;

impl Line {
    pub(super) fn new() -> Self {
        Self {
            queue: Mutex::new(Queue::new(LIMITS)),
            changed: Condvar::new(),
            start: Instant::now(),
        }
    }

    /// Lets a call wait for its transaction.
    pub(super) fn push<T: Send + 'static>(
        &self,
        bytes: usize,
        erases: bool,
        run: impl FnMut(&Connection, i64) -> Result<T, Fault> + Send + 'static,
    ) -> Result<Answer<T>, Error> {
        let (caller, answer) = oneshot::channel();
        let command = Box::new(Call { run, value: None, caller, bytes, erases });
        match self.lock().push(command, bytes, self.now()) {
            Ok(()) => {}
            Err(Refusal::Closed) => return Err(Error::closed()),
            Err(Refusal::Full) => {
                return Err(Error::unavailable(
                    "the store is too busy: too many calls wait for the disk",
                ));
            }
        }
        self.changed.notify_one();
        Ok(answer)
    }

    /// Lets nobody wait any more; `false` if it was closed before.
    pub(super) fn close(&self) -> bool {
        let is_first = self.lock().close();
        self.changed.notify_one();
        is_first
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    /// Waits for something to do: so long, or for ever.
    pub(super) fn next(&self, idle: Option<Duration>) -> Next {
        let mut queue = self.lock();
        while queue.is_empty() {
            if queue.is_closed() {
                return Next::End;
            }
            let Some(idle) = idle else {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (after, waited) =
                self.changed.wait_timeout(queue, idle).unwrap_or_else(PoisonError::into_inner);
            queue = after;
            if waited.timed_out() && queue.is_empty() && !queue.is_closed() {
                return Next::Idle;
            }
        }
        let (group, expired) = queue.take(self.now());
        Next::Group(group, expired)
    }

    fn lock(&self) -> MutexGuard<'_, Commands> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

/// What there is for the writer to do.
pub(super) enum Next {
    Group(Group<Box<dyn Command>>, Vec<Box<dyn Command>>),
    Idle,
    End,
}

/// When a caller finds that the writer is gone.
pub(super) fn lost() -> Error {
    Error::unusable("the store has stopped: start the program again")
}

/// However the thread ends, nobody waits for it any longer.
pub(super) struct Ending(pub(super) Arc<Line>);

impl Drop for Ending {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.close();
        queue.clear();
    }
}

type Commands = Queue<Box<dyn Command>>;

/// One call that writes: what it does inside a transaction, and whom to tell.
pub(super) trait Command: Send {
    fn run(&mut self, tx: &Connection, now: i64) -> Result<(), Fault>;
    /// After its transaction: committed, or failed.
    fn answer(self: Box<Self>, failure: Option<Error>);
    /// Whether it leaves nothing in the log either.
    fn erases(&self) -> bool;
    /// How much it adds to the log, about.
    fn bytes(&self) -> u64;
}

struct Call<T, F> {
    run: F,
    value: Option<T>,
    caller: oneshot::Sender<Result<T, Error>>,
    bytes: usize,
    erases: bool,
}

impl<T, F> Command for Call<T, F>
where
    T: Send,
    F: FnMut(&Connection, i64) -> Result<T, Fault> + Send,
{
    fn run(&mut self, tx: &Connection, now: i64) -> Result<(), Fault> {
        self.value = Some((self.run)(tx, now)?);
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<Error>) {
        let answer = match (failure, self.value) {
            (None, Some(value)) => Ok(value),
            (Some(error), _) => Err(error),
            (None, None) => Err(lost()),
        };
        // Whoever hung up does not want to know.
        let _ = self.caller.send(answer);
    }

    fn erases(&self) -> bool {
        self.erases
    }

    fn bytes(&self) -> u64 {
        self.bytes as u64 + COMMAND_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_the_writer_ends_nobody_waits_for_ever() {
        let line = Arc::new(Line::new());
        let mut call = line.push(1, false, nothing).unwrap();
        drop(Ending(line.clone()));
        assert!(matches!(call.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
        assert_eq!(line.push(1, false, nothing).unwrap_err().to_string(), "the inbox is closed");
    }

    fn nothing(_: &Connection, _: i64) -> Result<(), Fault> {
        Ok(())
    }
}
