use std::{
    fmt,
    future::{pending, poll_fn},
    mem,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use http::StatusCode;

use crate::{
    answer::{Answer, Reply},
    log::{self, CurrentDelivery, InDelivery},
    receiver::{Delivery, Entrance, Headers, Receiver, Run, RunEnd, RunKey},
};

/// Connects an adapter's layer with the extractor inside it, for one request.
///
/// The layer makes a slot, puts a clone of it into the request's extensions, and calls
/// [`supervise`](Self::supervise) with the future of the inner service. An extractor that has checked a delivery
/// waits for [`admit`](Self::admit), which lets one handler run at a time for each job.
///
/// ```
/// use std::{convert::Infallible, future::pending, time::Instant};
/// use article_webhook::{Answer, AuthToken, Delivery, Receiver, StatusCode, adapter::{MountId, RunSlot}};
///
/// /// Handles a delivery. The output of the handler is the status of its response.
/// async fn handle(receiver: &Receiver, delivery: &Delivery) -> Result<StatusCode, Answer> {
///     let headers = [("Host", "blog.example")];
///     let slot = RunSlot::new(receiver, MountId::SHARED, &headers, "/webhooks/articles", Instant::now);
///     let extractor = slot.clone();
///     let inner = async {
///         extractor.admit(delivery).await;
///         StatusCode::NO_CONTENT
///     };
///     let spawn = |work| async { Ok::<StatusCode, Infallible>(work.await) }; // the runtime's spawn
///     let no_timer = |_| pending(); // the runtime's sleep
///     slot.supervise(inner, |status| Some(*status), spawn, no_timer).await
/// }
///
/// # use std::{pin::pin, task::{Context, Poll, Waker}};
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let Poll::Ready(output) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else { unreachable!() };
/// #     output
/// # }
/// let receiver = Receiver::new(AuthToken::new("Bearer 5f2b9c0e7a1d4e38")?);
/// let headers = [("Authorization", "Bearer 5f2b9c0e7a1d4e38"), ("Content-Type", "application/json"),
///                ("X-Service-Event", "article.complete"), ("X-Service-Job-Id", "job_1")];
/// let delivery = receiver.open(&headers)?.read(r#"{"job_id": "job_1"}"#)?;
///
/// assert_eq!(block_on(handle(&receiver, &delivery)), Ok(StatusCode::NO_CONTENT));
/// // The same delivery again is answered without the handler.
/// let answer = block_on(handle(&receiver, &delivery)).unwrap_err();
/// assert_eq!((answer.status().as_u16(), answer.body()), (200, r#"{"status":"duplicate"}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunSlot(Arc<Shared>);

struct Shared {
    receiver: Receiver,
    route: Arc<str>,
    clock: fn() -> Instant,
    current: Arc<CurrentDelivery>,
    progress: Mutex<Progress>,
}

struct Progress {
    stage: Stage,
    /// The layer, which is woken when an extractor changes the stage in a task that is not the layer's.
    layer: Option<Waker>,
}

/// How far a request is.
enum Stage {
    /// No delivery was found in it.
    Unknown,
    /// The request is a delivery, which waits for another of its job.
    Waiting,
    /// The request needs no handler.
    Answered(Answer),
    /// Its handler may run. The layer takes the run.
    Admitted(Option<OpenRun>),
}

/// Where a layer is mounted: deliveries to two mounts are handled by different handlers, although they have the same
/// path. A router that is nested sees only the rest of a path.
#[derive(Debug, Clone, Copy)]
pub struct MountId(u64);

impl MountId {
    /// For frameworks that show a layer the whole path, so that the path distinguishes mounts.
    pub const SHARED: Self = Self(0);

    /// An id that no other mount in this process has.
    #[must_use]
    pub fn unique() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Relaxed) + 1)
    }
}

impl RunSlot {
    /// A slot for one request to `uri`, its path and query. `clock` is the runtime's monotonic clock.
    #[must_use]
    pub fn new(
        receiver: &Receiver,
        mount: MountId,
        headers: &(impl Headers + ?Sized),
        uri: &str,
        clock: fn() -> Instant,
    ) -> Self {
        let host = headers.values("host").next().map(String::from_utf8_lossy).unwrap_or_default();
        Self(Arc::new(Shared {
            receiver: receiver.clone(),
            route: format!("{} {host} {uri}", mount.0).into(),
            clock,
            current: Arc::default(),
            progress: Mutex::new(Progress { stage: Stage::Unknown, layer: None }),
        }))
    }

    /// Waits until the handler for this delivery may run: no other of its job runs. Does not end if no handler is to
    /// run: then [`supervise`](Self::supervise) ends with the answer.
    pub async fn admit(&self, delivery: &Delivery) {
        let Shared { receiver, route, clock, current, .. } = &*self.0;
        current.set(delivery.job_id());
        self.set(Stage::Waiting);
        let key = RunKey::new(route, delivery);
        let reply = loop {
            match receiver.runs().enter(&key, delivery.body(), clock()) {
                Entrance::Run { run, overtakes } => {
                    if overtakes {
                        log::handler_overtaken(delivery.job_id());
                    }
                    let (receiver, current) = (receiver.clone(), Arc::clone(current));
                    let run = OpenRun { receiver, clock: *clock, current, run, end: None };
                    self.set(Stage::Admitted(Some(run)));
                    return yield_once().await;
                }
                Entrance::Wait(ending) => _ = ending.wait().await,
                Entrance::Join(ending) => match ending.wait().await {
                    RunEnd::Succeeded => break Reply::Duplicate,
                    RunEnd::Failed => break Reply::Retry,
                },
                Entrance::Done => break Reply::Duplicate,
            }
        };
        log::joined(reply, Some(delivery.job_id()));
        self.set(Stage::Answered(reply.into()));
        pending::<()>().await;
    }

    /// Waits for the inner service. From the moment when a delivery is found in the request, the inner service runs in
    /// a task of its own to its end, although the sender disconnects, and the wait ends after
    /// [`answer_deadline`](Receiver::answer_deadline). A request in which no delivery is found passes unchanged.
    ///
    /// `status` reads the status of the inner service's response, `None` if it responded with an error. `spawn` runs
    /// the rest of the inner service in a task on the runtime. An error of the task means that the handler panicked
    /// (500). `sleep` is the runtime's timer.
    ///
    /// # Errors
    ///
    /// The answer to send, if the handler panicked or is late, or if the delivery needs no run of its own.
    pub async fn supervise<F, T, E, W>(
        &self,
        inner: F,
        status: fn(&F::Output) -> Option<StatusCode>,
        spawn: impl FnOnce(HandlerRun<F>) -> T,
        sleep: impl FnOnce(Duration) -> W,
    ) -> Result<F::Output, Answer>
    where
        F: Future,
        T: Future<Output = Result<F::Output, E>>,
        W: Future<Output = ()>,
    {
        let Shared { receiver, current, .. } = &*self.0;
        let mut inner = Box::pin(inner);
        let (mut sleep, mut deadline) = (Some(sleep), pin!(None));
        let mut is_late = |context: &mut Context<'_>| {
            if let Some(sleep) = sleep.take() {
                deadline.set(Some(sleep(receiver.answer_deadline())));
            }
            deadline.as_mut().as_pin_mut().is_some_and(|deadline| deadline.poll(context).is_ready())
        };
        let admitted = poll_fn(|context| {
            if let Poll::Ready(output) = inner.as_mut().poll(context) {
                // A handler runs already where a layer between this one and the handler has a task of its own.
                let run = match &mut self.progress().stage {
                    Stage::Admitted(run) => run.take(),
                    _ => None,
                };
                if let Some(run) = run {
                    run.respond(status(&output));
                }
                return Poll::Ready(Err(Ok(output)));
            }
            {
                let mut progress = self.progress();
                progress.layer = Some(context.waker().clone());
                match &mut progress.stage {
                    Stage::Unknown => return Poll::Pending,
                    Stage::Answered(answer) => return Poll::Ready(Err(Err(*answer))),
                    Stage::Admitted(run) => return Poll::Ready(Ok(run.take())),
                    Stage::Waiting => {}
                }
            }
            if is_late(context) {
                log::joined(Reply::Unavailable, current.job_id());
                return Poll::Ready(Err(Err(Reply::Unavailable.into())));
            }
            Poll::Pending
        });
        let run = match admitted.await {
            Ok(run) => run,
            Err(ended) => return ended,
        };
        let inner = InDelivery::new(inner, Arc::clone(current));
        let mut task = pin!(spawn(HandlerRun { inner, status, run }));
        poll_fn(|context| match task.as_mut().poll(context) {
            Poll::Ready(Ok(output)) => Poll::Ready(Ok(output)),
            Poll::Ready(Err(_)) => Poll::Ready(Err(Answer::internal_error())),
            Poll::Pending if is_late(context) => {
                current.set_late();
                log::handler_late(receiver.answer_deadline(), current.job_id());
                Poll::Ready(Err(Reply::Unavailable.into()))
            }
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    fn set(&self, stage: Stage) {
        let mut progress = self.progress();
        progress.stage = stage;
        if let Some(layer) = progress.layer.take() {
            layer.wake();
        }
    }

    /// A poisoned lock still holds a stage: it is replaced in one step.
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the layer move the inner service into a task before the handler begins.
async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// The rest of an inner service, for the runtime to run in a task of its own.
pub struct HandlerRun<F: Future> {
    inner: InDelivery<F>,
    status: fn(&F::Output) -> Option<StatusCode>,
    run: Option<OpenRun>,
}

impl<F: Future> Future for HandlerRun<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let polled = Pin::new(&mut self.inner).poll(context);
        if let Poll::Ready(output) = &polled {
            let status = (self.status)(output);
            if let Some(run) = self.run.take() {
                run.respond(status);
            }
        }
        polled
    }
}

impl<F: Future> fmt::Debug for HandlerRun<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerRun").finish_non_exhaustive()
    }
}

/// The run of a handler. It ends when this is dropped at the latest: by a panic, or with the runtime.
struct OpenRun {
    receiver: Receiver,
    clock: fn() -> Instant,
    current: Arc<CurrentDelivery>,
    run: Run,
    end: Option<RunEnd>,
}

impl OpenRun {
    /// The handler responded with this status, or with an error.
    fn respond(mut self, status: Option<StatusCode>) {
        // Section 6.2: any 2xx is a success.
        self.end = Some(match status {
            Some(status) if status.is_success() => RunEnd::Succeeded,
            _ => RunEnd::Failed,
        });
        log::handler_ended(status, &self.current);
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        let end = self.end.unwrap_or_else(|| {
            log::failed(
                "the handler panicked, or was dropped before it ended",
                self.current.job_id(),
            );
            RunEnd::Failed
        });
        self.receiver.runs().end(&self.run, end, (self.clock)());
    }
}

impl fmt::Debug for RunSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunSlot").field("job_id", &self.0.current.job_id()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, future::ready, rc::Rc, sync::LazyLock, task::Waker};

    use super::*;
    use crate::receiver::sample::{BODY, HEADERS, receiver};

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    type Work<T> = Pin<Box<dyn Future<Output = T>>>;

    /// The status of the handler's response.
    type Response = Option<StatusCode>;

    fn delivery(receiver: &Receiver) -> Delivery {
        receiver.open(&HEADERS).unwrap().read(BODY).unwrap()
    }

    fn slot(receiver: &Receiver) -> RunSlot {
        RunSlot::new(receiver, MountId::SHARED, &[("Host", "blog.example")], "/", || *START)
    }

    fn poll<T>(work: &mut Work<T>) -> Poll<T> {
        work.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    /// A request that is under way.
    struct Request {
        layer: Work<Result<Response, Answer>>,
        /// What the runtime runs. The layer sees its output.
        task: Rc<RefCell<Option<Work<Response>>>>,
    }

    impl Request {
        fn new(receiver: &Receiver, handler: impl Future<Output = Response> + 'static) -> Self {
            Self::in_slot(receiver, slot(receiver), handler)
        }

        fn in_slot(
            receiver: &Receiver,
            slot: RunSlot,
            handler: impl Future<Output = Response> + 'static,
        ) -> Self {
            let delivery = delivery(receiver);
            let extractor = slot.clone();
            let inner = async move {
                extractor.admit(&delivery).await;
                handler.await
            };
            let task = Rc::<RefCell<Option<Work<Response>>>>::default();
            let spawned = Rc::clone(&task);
            let layer = async move {
                let spawn = |run| {
                    *spawned.borrow_mut() = Some(Box::pin(run));
                    poll_fn(|context| match &mut *spawned.borrow_mut() {
                        Some(task) => task.as_mut().poll(context).map(Ok),
                        None => Poll::Ready(Err(())),
                    })
                };
                slot.supervise(inner, |status| *status, spawn, |_| pending()).await
            };
            Self { layer: Box::pin(layer), task }
        }

        fn poll(&mut self) -> Poll<Result<Response, Answer>> {
            poll(&mut self.layer)
        }

        fn answer(&mut self) -> (u16, &'static str) {
            match self.poll() {
                Poll::Ready(Err(answer)) => {
                    (answer.status().as_u16(), answer.body().split('"').nth(3).unwrap())
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// A handler that responds once a test lets it.
    #[derive(Clone, Default)]
    struct Handler(Rc<RefCell<Option<Response>>>);

    impl Handler {
        fn run(&self) -> impl Future<Output = Response> + use<> {
            let Self(response) = self.clone();
            poll_fn(move |_| response.borrow().map_or(Poll::Pending, Poll::Ready))
        }

        fn respond(&self, status: Response) {
            *self.0.borrow_mut() = Some(status);
        }
    }

    async fn runs_twice() -> Response {
        panic!("it runs twice")
    }

    #[test]
    fn a_retry_joins_the_handler_that_runs_and_is_answered_as_it_ends() {
        for (status, answer) in [
            (Some(StatusCode::NO_CONTENT), (200, "duplicate")),
            (Some(StatusCode::SERVICE_UNAVAILABLE), (503, "retry_later")),
            (Some(StatusCode::FOUND), (503, "retry_later")),
            (None, (503, "retry_later")),
        ] {
            let (receiver, handler) = (receiver(), Handler::default());
            let mut first = Request::new(&receiver, handler.run());
            assert!(first.poll().is_pending());
            let mut retry = Request::new(&receiver, runs_twice());
            assert!(retry.poll().is_pending());
            handler.respond(status);
            assert_eq!(first.poll(), Poll::Ready(Ok(status)));
            assert_eq!(retry.answer(), answer);
        }
    }

    #[test]
    fn a_handler_that_panics_or_is_dropped_has_failed() {
        let receiver = receiver();
        let handler = Handler::default();
        let mut first = Request::new(&receiver, handler.run());
        assert!(first.poll().is_pending());
        let mut retry = Request::new(&receiver, runs_twice());
        assert!(retry.poll().is_pending());
        drop(first.task.take());
        assert_eq!(first.answer(), (500, "internal"));
        assert_eq!(retry.answer(), (503, "retry_later"));
        assert!(Request::new(&receiver, ready(Some(StatusCode::OK))).poll().is_ready());
    }

    #[test]
    fn another_host_query_or_mount_is_another_handler() {
        let receiver = receiver();
        let headers = [("Host", "blog.example")];
        let mounted = |mount, host: &'static str, uri| {
            RunSlot::new(&receiver, mount, &[("Host", host)], uri, || *START)
        };
        let run =
            |slot: RunSlot| Request::in_slot(&receiver, slot, ready(Some(StatusCode::OK))).poll();
        let slots = || {
            [
                RunSlot::new(&receiver, MountId::SHARED, &headers, "/a", || *START),
                mounted(MountId::SHARED, "shop.example", "/a"),
                mounted(MountId::SHARED, "blog.example", "/a?site=2"),
                mounted(MountId::unique(), "blog.example", "/a"),
                mounted(MountId::unique(), "blog.example", "/a"),
            ]
        };
        for slot in slots() {
            assert_eq!(run(slot), Poll::Ready(Ok(Some(StatusCode::OK))));
        }
        let [again, ..] = slots();
        assert!(matches!(run(again), Poll::Ready(Err(_))), "the same handler");
    }

    #[test]
    fn a_run_ends_although_the_inner_service_responds_before_its_handler_begins() {
        let receiver = receiver();
        let slot = slot(&receiver);
        let extractor = slot.clone();
        let delivery = delivery(&receiver);
        // As where a later extractor fails, or a layer gives the handler up, in the same moment.
        let inner = async move {
            let mut admitted = pin!(extractor.admit(&delivery));
            poll_fn(|context| Poll::Ready(admitted.as_mut().poll(context))).await.is_pending()
        };
        let spawn = |_| -> std::future::Ready<Result<_, ()>> { panic!("nothing is left to run") };
        let mut layer = pin!(slot.supervise(
            inner,
            |_| Some(StatusCode::INTERNAL_SERVER_ERROR),
            spawn,
            |_| pending()
        ));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(layer.as_mut().poll(&mut context), Poll::Ready(Ok(true)));
        assert!(pin!(receiver.handlers_ended()).poll(&mut context).is_ready());
    }

    #[test]
    fn a_handler_runs_although_a_layer_inside_polls_it_in_a_task_of_its_own() {
        let receiver = receiver();
        let slot = slot(&receiver);
        let (extractor, delivery) = (slot.clone(), delivery(&receiver));
        let mut elsewhere: Work<Response> = Box::pin(async move {
            extractor.admit(&delivery).await;
            Some(StatusCode::NO_CONTENT)
        });
        let response = Rc::<RefCell<Option<Response>>>::default();
        let inner = {
            let response = Rc::clone(&response);
            poll_fn(move |_| response.borrow().map_or(Poll::Pending, Poll::Ready))
        };
        let spawn = |run| async { Ok::<_, ()>(pin!(run).await) };
        let mut layer = pin!(slot.supervise(inner, |status| *status, spawn, |_| pending()));
        let woken = Arc::<Woken>::default();
        let layers_waker = Arc::clone(&woken).into();
        let mut context = Context::from_waker(&layers_waker);
        assert!(layer.as_mut().poll(&mut context).is_pending());
        assert!(poll(&mut elsewhere).is_pending());
        assert!(woken.0.load(Relaxed), "the layer is woken when the handler may run");
        let Poll::Ready(status) = poll(&mut elsewhere) else { panic!("the handler runs") };
        *response.borrow_mut() = Some(status);
        assert_eq!(
            layer.as_mut().poll(&mut context),
            Poll::Ready(Ok(Some(StatusCode::NO_CONTENT)))
        );
        assert_eq!(Request::new(&receiver, runs_twice()).answer(), (200, "duplicate"));
    }

    #[derive(Default)]
    struct Woken(std::sync::atomic::AtomicBool);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Relaxed);
        }
    }

    #[test]
    fn a_request_that_is_no_delivery_passes_unchanged() {
        let receiver = receiver();
        let slot = slot(&receiver);
        let spawn = |_| -> std::future::Ready<Result<_, ()>> { panic!("it needs no task") };
        let no_timer = |_| -> std::future::Ready<()> { panic!("it has no deadline") };
        let inner = Handler::default();
        let mut layer = pin!(slot.supervise(inner.run(), |_| None, spawn, no_timer));
        let mut poll = || layer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        inner.respond(Some(StatusCode::NOT_FOUND));
        assert_eq!(poll(), Poll::Ready(Ok(Some(StatusCode::NOT_FOUND))));
    }
}
