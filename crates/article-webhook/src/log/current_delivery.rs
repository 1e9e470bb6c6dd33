use std::{
    cell::RefCell,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use crate::article::JobId;

thread_local! {
    /// What the future that is polled in this thread works on.
    static CURRENT: RefCell<Option<Arc<CurrentDelivery>>> = const { RefCell::new(None) };
}

/// The delivery that a handler or a sink works on, for the lines that are logged by what does not know it: an error
/// that `?` converts.
#[derive(Default)]
pub(crate) struct CurrentDelivery {
    job_id: OnceLock<JobId>,
    has_logged_a_retry: AtomicBool,
    is_late: AtomicBool,
}

impl CurrentDelivery {
    pub(crate) fn of(job_id: &JobId) -> Self {
        let current = Self::default();
        current.set(job_id);
        current
    }

    /// Says which job it is about, once it is known.
    pub(crate) fn set(&self, job_id: &JobId) {
        self.job_id.get_or_init(|| job_id.clone());
    }

    pub(crate) fn job_id(&self) -> Option<&JobId> {
        self.job_id.get()
    }

    #[cfg(feature = "tracing")]
    pub(super) fn log_a_retry(&self) -> Option<&JobId> {
        self.has_logged_a_retry.store(true, Relaxed);
        self.job_id()
    }

    /// Notes that its sender was answered before its handler has ended.
    pub(crate) fn set_late(&self) {
        self.is_late.store(true, Relaxed);
    }

    #[cfg(feature = "tracing")]
    pub(super) fn was_late(&self) -> bool {
        self.is_late.load(Relaxed)
    }

    /// Whether a line says already that a retry is asked for, and why.
    pub(crate) fn has_logged_a_retry(&self) -> bool {
        self.has_logged_a_retry.load(Relaxed)
    }
}

#[cfg(feature = "tracing")]
pub(super) fn current_delivery() -> Option<Arc<CurrentDelivery>> {
    CURRENT.with_borrow(Clone::clone)
}

/// A future of which each line of this crate's log names the job, and which stays in the span that it is made in,
/// although it runs in a task of its own.
pub(crate) struct InDelivery<F> {
    work: Pin<Box<F>>,
    current: Arc<CurrentDelivery>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

impl<F> InDelivery<F> {
    pub(crate) fn new(work: Pin<Box<F>>, current: Arc<CurrentDelivery>) -> Self {
        Self {
            work,
            current,
            #[cfg(feature = "tracing")]
            span: tracing::Span::current(),
        }
    }
}

impl<F: Future> Future for InDelivery<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let before = CURRENT.replace(Some(Arc::clone(&self.current)));
        let _restore = Restore(before);
        #[cfg(feature = "tracing")]
        let span = self.span.clone();
        #[cfg(feature = "tracing")]
        let _entered = span.enter();
        self.work.as_mut().poll(context)
    }
}

/// Also after a panic.
struct Restore(Option<Arc<CurrentDelivery>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
