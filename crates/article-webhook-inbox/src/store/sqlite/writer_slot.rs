use std::{
    error::Error as _,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{files, opening, writer::Writer};
use crate::{Clock, Error, telemetry};

/// The interval between two attempts at the lock that another process holds.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The writer of a store, or why it has none.
pub(super) struct WriterSlot {
    pub(super) path: PathBuf,
    pub(super) clock: Clock,
    state: watch::Sender<State>,
}

enum State {
    /// Another process uses the file.
    Waiting,
    Open(Arc<Writer>),
    /// The file could not be opened after the wait: why, and the cause of that.
    Refused(String, Option<String>),
    /// It was closed while it waited.
    Closed,
}

impl WriterSlot {
    pub(super) fn open(writer: Writer) -> Self {
        let (path, clock) = (writer.shared.path.clone(), writer.shared.clock.clone());
        Self { path, clock, state: watch::Sender::new(State::Open(Arc::new(writer))) }
    }

    /// Opens the file once no other process uses it, unless the slot is closed or dropped before.
    pub(super) fn wait(path: &Path, clock: Clock, timeout: Duration) -> Result<Arc<Self>, Error> {
        let state = watch::Sender::new(State::Waiting);
        let slot = Arc::new(Self { path: path.to_owned(), clock, state });
        telemetry::waits_for_lock(path);
        let waiting = Arc::downgrade(&slot);
        let thread = thread::Builder::new().name("article-webhook-inbox-wait".into());
        thread.spawn(move || wait(&waiting, timeout)).map_err(|error| {
            Error::unusable("no thread can be started for the store: raise the limit of threads")
                .because(error)
        })?;
        Ok(slot)
    }

    pub(super) fn writer(&self) -> Result<Arc<Writer>, Error> {
        match &*self.state.borrow() {
            State::Open(writer) => Ok(Arc::clone(writer)),
            State::Waiting => Err(Error::unavailable(format!(
                "another process uses {}: this one opens it once that process has ended",
                self.path.display()
            ))),
            State::Refused(why, cause) => {
                let error = Error::unusable(why);
                Err(match cause {
                    Some(cause) => error.because(cause.as_str()),
                    None => error,
                })
            }
            State::Closed => Err(Error::closed()),
        }
    }

    /// Returns once it waits no longer.
    pub(super) async fn opened(&self) -> Result<(), Error> {
        let mut state = self.state.subscribe();
        // The sender lives as long as this slot.
        let _ = state.wait_for(|state| !matches!(state, State::Waiting)).await;
        self.writer().map(drop)
    }

    /// Ends the wait. `false` if it was over.
    pub(super) fn end_wait(&self) -> bool {
        self.leave_waiting(State::Closed)
    }

    fn is_waiting(&self) -> bool {
        matches!(*self.state.borrow(), State::Waiting)
    }

    fn leave_waiting(&self, next: State) -> bool {
        self.state.send_if_modified(|state| {
            let is_waiting = matches!(state, State::Waiting);
            if is_waiting {
                *state = next;
            }
            is_waiting
        })
    }
}

fn wait(slot: &Weak<WriterSlot>, timeout: Duration) {
    let start = Instant::now();
    loop {
        thread::sleep(LOCK_CHECK_INTERVAL);
        let Some(slot) = slot.upgrade().filter(|slot| slot.is_waiting()) else { return };
        let next = match opening::exclusive(&slot.path, slot.clock.clone()) {
            Ok(None) if start.elapsed() < timeout => continue,
            Ok(Some(writer)) => Ok(writer),
            Ok(None) => Err(files::in_use(&slot.path)),
            Err(error) => Err(error),
        };
        telemetry::has_waited(&slot.path, next.as_ref().map(drop));
        slot.leave_waiting(match next {
            Ok(writer) => State::Open(Arc::new(writer)),
            Err(error) => {
                State::Refused(error.to_string(), error.source().map(ToString::to_string))
            }
        });
        return;
    }
}
