use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use rusqlite::Connection;

use super::{
    command::{Answer, Call, Command},
    group_commit::{Group, Limits, Queue, Refusal},
};
use crate::{
    Error,
    script::Effect,
    store::sqlite::{connection::BUSY, damage::Findings, fault::Fault},
};

/// How much may wait for the writer, and how much of it goes into one transaction.
const LIMITS: Limits = Limits {
    waiting: 4096,
    waiting_bytes: 64 << 20,
    group: 512,
    group_bytes: 8 << 20,
    patience: BUSY,
};

/// The calls that wait for the writer.
pub(in crate::store::sqlite) struct CommandQueue {
    queue: Mutex<Queue<Box<dyn Command>>>,
    changed: Condvar,
    start: Instant,
}

/// What the writer does next.
pub(super) enum Next {
    /// It commits a group. The other commands have waited too long.
    Group(Group<Box<dyn Command>>, Vec<Box<dyn Command>>),
    /// No command came for the given time.
    Idle,
    /// It ends.
    End,
}

impl CommandQueue {
    pub(super) fn new() -> Self {
        Self {
            queue: Mutex::new(Queue::new(LIMITS)),
            changed: Condvar::new(),
            start: Instant::now(),
        }
    }

    /// Adds a call.
    pub(in crate::store::sqlite) fn push<T: Send + 'static>(
        &self,
        effect: Effect,
        run: impl FnMut(&mut Connection, SystemTime, &Findings) -> Result<T, Fault> + Send + 'static,
    ) -> Result<Answer<T>, Error> {
        let (call, answer) = Call::new(effect, run);
        self.add(Box::new(call), effect.bytes())?;
        Ok(answer)
    }

    fn add(&self, command: Box<dyn Command>, bytes: usize) -> Result<(), Error> {
        let now = self.now();
        self.lock().push(command, bytes, now).map_err(|refusal| match refusal {
            Refusal::Closed => Error::closed(),
            Refusal::TooMany => {
                Error::unavailable("the store is too busy: too many calls wait for the disk")
            }
            Refusal::TooLarge => {
                Error::unavailable("the store is too busy: too many bytes wait for the disk")
            }
        })?;
        self.changed.notify_one();
        Ok(())
    }

    /// Refuses every later call. `false` if the queue was closed before.
    pub(in crate::store::sqlite) fn close(&self) -> bool {
        let is_first = self.lock().close();
        self.changed.notify_one();
        is_first
    }

    pub(in crate::store::sqlite) fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }

    /// Waits for commands, for the end, or until no command has come for `idle`.
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

    /// The time since the start of the queue, which measures how long commands wait.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, Queue<Box<dyn Command>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes and empties the queue when the writer's thread ends, even by a panic, so that no caller waits forever.
pub(super) struct CloseOnDrop(pub(super) Arc<CommandQueue>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.close();
        queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_the_writer_ends_no_caller_waits_for_ever() {
        let queue = Arc::new(CommandQueue::new());
        let mut call = queue.push(Effect::Adds(0), nothing).unwrap();
        drop(CloseOnDrop(queue.clone()));
        assert!(call.now().is_none());
        let refused = queue.push(Effect::Adds(0), nothing).err().unwrap();
        assert_eq!(refused.to_string(), "the inbox is closed");
    }

    #[test]
    fn the_error_of_a_full_queue_says_which_limit_was_reached() {
        let refused = |bytes, calls| {
            let queue = CommandQueue::new();
            let answers: Vec<_> =
                (0..calls).map(|_| queue.push(Effect::Adds(bytes), nothing).unwrap()).collect();
            let error = queue.push(Effect::Adds(0), nothing).err().unwrap().to_string();
            drop(answers);
            error
        };
        assert!(refused(0, LIMITS.waiting).ends_with("too many calls wait for the disk"));
        assert!(
            refused(LIMITS.waiting_bytes - 512, 1).ends_with("too many bytes wait for the disk")
        );
    }

    fn nothing(_: &mut Connection, _: SystemTime, _: &Findings) -> Result<(), Fault> {
        Ok(())
    }
}
