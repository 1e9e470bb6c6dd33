use std::{
    future::{Ready, ready},
    sync::{Arc, Condvar, Mutex},
};

use article_webhook_inbox::{Failed, Job};

/// Blocks threads until it lets them through.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    waiting: u32,
    /// How many may pass.
    passes: u32,
    is_open: bool,
}

impl Gate {
    pub(crate) fn block(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.waiting += 1;
        let mut state =
            changed.wait_while(state, |state| !state.is_open && state.passes == 0).unwrap();
        state.passes = state.passes.saturating_sub(1);
        state.waiting -= 1;
    }

    /// A handler that is blocked.
    pub(crate) fn handler(
        &self,
    ) -> impl Fn(Job) -> Ready<Result<(), Failed>> + Clone + Send + Sync + 'static {
        let gate = self.clone();
        move |_| {
            gate.block();
            ready(Ok(()))
        }
    }

    pub(crate) fn open_one(&self) {
        self.0.0.lock().unwrap().passes += 1;
        self.0.1.notify_all();
    }

    pub(crate) fn open(&self) {
        self.0.0.lock().unwrap().is_open = true;
        self.0.1.notify_all();
    }

    /// Whether no thread is blocked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.0.lock().unwrap().waiting == 0
    }
}
