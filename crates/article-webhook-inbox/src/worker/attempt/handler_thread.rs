use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
};

use tokio::{runtime::Handle, select, sync::oneshot};

use super::{
    attempt_result::AttemptResult, handler_threads::HandlerThreads, handlers::BoundHandler,
};
use crate::worker::{
    Failed,
    registry::{ThreadSlot, ThreadWatch},
};

/// A handler and the thread that it has to itself. A handler that never yields blocks no other task there. The thread
/// does not belong to the runtime, so it cannot keep the program from ending. It has the runtime's context, for timers,
/// sockets and tasks, but is not inside its `block_on`: that would forbid the handler to block on anything. Dropping
/// this value cancels the handler.
#[derive(Debug)]
pub(super) struct HandlerThread {
    ended: oneshot::Receiver<AttemptResult>,
    cancel: Option<oneshot::Sender<()>>,
    watch: ThreadWatch,
}

/// A handler with what its thread needs to run it and to tell how it ended.
pub(super) struct HandlerRun {
    handler: BoundHandler,
    runtime: Handle,
    cancelled: oneshot::Receiver<()>,
    slot: ThreadSlot,
    end: oneshot::Sender<AttemptResult>,
}

impl HandlerThread {
    /// Starts the handler, which holds the slot until it ends.
    pub(super) fn start(
        handler: BoundHandler,
        slot: ThreadSlot,
        threads: &HandlerThreads,
    ) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let (cancel, cancelled) = oneshot::channel();
        let watch = slot.watch();
        threads.run(HandlerRun { handler, runtime: Handle::current(), cancelled, slot, end })?;
        Ok(Self { ended, cancel: Some(cancel), watch })
    }

    /// How the handler ended; `Stopped` if it was cancelled. The future may be dropped and awaited again.
    pub(super) async fn ended(&mut self) -> AttemptResult {
        let lost = |_| AttemptResult::Panicked { message: "its thread is gone".to_owned() };
        (&mut self.ended).await.unwrap_or_else(lost)
    }

    /// Cancels the handler at its next `await`.
    pub(super) fn cancel(&mut self) {
        self.cancel = None;
    }
}

impl Drop for HandlerThread {
    /// A handler that goes on, although it is no longer waited for, is stuck until it ends.
    fn drop(&mut self) {
        self.watch.give_up();
    }
}

impl HandlerRun {
    /// Runs the handler to its end, and returns what tells how it ended.
    pub(super) fn run(self) -> impl FnOnce() {
        let Self { handler, runtime, cancelled, end, slot } = self;
        // What a handler drops, the value of its panic included, may need the runtime.
        let _context = runtime.enter();
        // After a panic nothing of the handler is used again but its thread. Formatting its error may panic as well.
        let result = catch_unwind(AssertUnwindSafe(|| {
            pollster::block_on(async {
                let work = pin!(async { handler().await });
                select! {
                    biased;
                    returned = work => result_of(returned),
                    _ = cancelled => AttemptResult::Stopped,
                }
            })
        }));
        let result =
            result.unwrap_or_else(|panic| AttemptResult::Panicked { message: message(&*panic) });
        // Dropped before the result is sent, so that a handler with a known result is not stuck.
        drop(slot);
        move || drop(end.send(result))
    }
}

fn result_of(returned: Result<(), Failed>) -> AttemptResult {
    match returned {
        Ok(()) => AttemptResult::Succeeded,
        Err(failed) if failed.is_snooze() => {
            AttemptResult::Snoozed { after: failed.after().unwrap_or_default() }
        }
        Err(failed) if failed.is_dead() => AttemptResult::GaveUp { cause: failed.to_string() },
        Err(failed) => AttemptResult::Failed { cause: failed.to_string(), after: failed.after() },
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}
