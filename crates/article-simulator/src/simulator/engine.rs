use std::{
    fmt,
    future::pending,
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use tokio::{
    sync::Notify,
    task::{JoinError, JoinSet},
    time::sleep,
};

use crate::{Clock, Push, Sender, Service, clock::END, service::latency};

/// Tells the service the time, and carries out what it wants sent.
pub(crate) struct Engine {
    service: Mutex<Service>,
    clock: Clock,
    sender: Box<dyn Sender>,
    concurrency: usize,
    /// A call may have entered something into the agenda.
    news: Notify,
    /// One step at a time.
    stepping: tokio::sync::Mutex<()>,
}

impl Engine {
    pub(crate) fn new(
        service: Service,
        clock: Clock,
        sender: Box<dyn Sender>,
        concurrency: usize,
    ) -> Self {
        let (news, stepping) = (Notify::new(), tokio::sync::Mutex::default());
        Self { service: Mutex::new(service), clock, sender, concurrency, news, stepping }
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// The time is read under the lock: for the service it never runs backwards.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Service, Duration) -> T) -> T {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        look(&mut service, self.clock.now())
    }

    pub(crate) async fn call(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let response = self.with(|service, now| service.call(now, request));
        self.news.notify_one();
        if let Some(latency) = latency(&response) {
            sleep(latency).await;
        }
        response
    }

    pub(crate) async fn advance(self: &Arc<Self>, by: Duration) {
        assert!(
            self.clock.is_stepped(),
            "this clock runs by itself and cannot be advanced: give the builder Clock::stepped()"
        );
        let _one = self.stepping.lock().await;
        let until = self.clock.now().saturating_add(by).min(END);
        while let Some(pushes) = self.due_until(until) {
            let mut sending = JoinSet::new();
            for push in pushes {
                self.start(&mut sending, push).await;
            }
            while let Some(ended) = sending.join_next().await {
                passed_on(ended);
            }
        }
        self.clock.step_to(until);
    }

    /// Steps to the next thing that is due. It may be the end of a job, with nothing to send.
    fn due_until(&self, until: Duration) -> Option<Vec<Push>> {
        self.with(|service, _| {
            let at = service.next_due().filter(|&at| at <= until)?;
            self.clock.step_to(at);
            Some(service.due(self.clock.now()))
        })
    }

    /// Lives as long as the simulator, on a clock that runs by itself.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut sending = JoinSet::new();
        loop {
            for push in self.with(Service::due) {
                self.start(&mut sending, push).await;
            }
            let next = self.with(|service, _| service.next_due());
            let pause = next.and_then(|at| self.clock.real_time_until(at));
            let next_is_due = async {
                match pause {
                    Some(pause) => sleep(pause).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = next_is_due => {}
                () = self.news.notified() => {}
                Some(ended) = sending.join_next() => passed_on(ended),
            }
        }
    }

    /// Sends one after the other where only one may be on its way, so that they arrive in their order.
    async fn start(self: &Arc<Self>, sending: &mut JoinSet<()>, push: Push) {
        if self.concurrency <= 1 {
            return self.push(&push).await;
        }
        while sending.len() >= self.concurrency {
            if let Some(ended) = sending.join_next().await {
                passed_on(ended);
            }
        }
        let engine = self.clone();
        sending.spawn(async move { engine.push(&push).await });
    }

    async fn push(&self, push: &Push) {
        let outcome = self.sender.send(push).await;
        self.with(|service, now| service.pushed(now, push, outcome));
    }
}

/// A sender of the test's own may fail it by a panic.
fn passed_on(ended: Result<(), JoinError>) {
    if let Some(panic) = ended.err().and_then(|error| error.try_into_panic().ok()) {
        resume_unwind(panic);
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("clock", &self.clock).finish_non_exhaustive()
    }
}
