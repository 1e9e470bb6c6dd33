use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    thread,
};

use tokio::{runtime::Handle, select, sync::oneshot};

use super::{Failed, Handler, Job};
use crate::rules::ending::Ending;

/// A handler at work, in a thread of its own: one that never yields holds up nobody else, and as the thread is
/// not the runtime's, it does not keep the program from ending. Dropping it asks the handler to end.
#[derive(Debug)]
pub(super) struct Running {
    ended: oneshot::Receiver<Ending>,
    asked: Option<oneshot::Sender<()>>,
}

impl Running {
    /// Starts it. `threads` is held by the thread for as long as it lives.
    pub(super) fn start(handler: Handler, job: Job, threads: Arc<()>) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let (ask, asked) = oneshot::channel::<()>();
        let runtime = Handle::current();
        thread::Builder::new().name("article-handler".to_owned()).spawn(move || {
            // Nothing of the handler is used again after a panic. The text of its error is its own code as well.
            let how = catch_unwind(AssertUnwindSafe(|| {
                runtime.block_on(async {
                    let work = pin!(async { handler(job).await });
                    select! {
                        biased;
                        returned = work => ending(returned),
                        _ = asked => Ending::Stopped,
                    }
                })
            }));
            let how = how.unwrap_or_else(|panic| Ending::Panicked { message: message(&*panic) });
            // First, so that whoever learns of the end does not count the thread any more.
            drop(threads);
            let _ = end.send(how);
        })?;
        Ok(Self { ended, asked: Some(ask) })
    }

    /// How it ended; `Stopped` if it was asked to, and did. Can be waited for again after the future was dropped.
    pub(super) async fn ended(&mut self) -> Ending {
        let lost = |_| Ending::Panicked { message: "its thread is gone".to_owned() };
        (&mut self.ended).await.unwrap_or_else(lost)
    }

    /// Asks it to end at its next point of waiting.
    pub(super) fn ask_to_end(&mut self) {
        self.asked = None;
    }
}

fn ending(returned: Result<(), Failed>) -> Ending {
    match returned {
        Ok(()) => Ending::Succeeded,
        Err(failed) if failed.is_dead() => Ending::GaveUp { cause: failed.to_string() },
        Err(failed) => Ending::Failed { cause: failed.to_string(), after: failed.after() },
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}
