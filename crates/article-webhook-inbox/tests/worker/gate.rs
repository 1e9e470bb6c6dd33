use std::{
    future::{Ready, ready},
    sync::Arc,
};

use article_webhook_inbox::{Failed, Job};
use tokio::{runtime::Handle, sync::Semaphore};

use super::scene::Count;

/// Blocks the threads of handlers until it lets them through.
#[derive(Clone)]
pub(crate) struct Gate {
    waiting: Count,
    passes: Arc<Semaphore>,
}

impl Gate {
    pub(crate) fn closed() -> Self {
        Self { waiting: Count::default(), passes: Arc::new(Semaphore::new(0)) }
    }

    pub(crate) fn block(&self) {
        self.waiting.add();
        Handle::current().block_on(self.passes.acquire()).unwrap().forget();
        self.waiting.take();
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
        self.passes.add_permits(1);
    }

    pub(crate) fn open(&self) {
        self.passes.add_permits(100);
    }

    /// Whether no thread is blocked.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.now() == 0
    }
}
