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

use super::clock::{END, SimulatorClock};
use crate::{Push, Sender, Service, response::delay_of};

/// Supplies the service with the time, and sends the attempts that are due.
pub(crate) struct Engine {
    service: Mutex<Service>,
    clock: SimulatorClock,
    sender: Box<dyn Sender>,
    concurrency: usize,
    /// Notified after each call, which may have scheduled something.
    changed: Notify,
    /// Held during `advance`, so that there is one step at a time.
    stepping: tokio::sync::Mutex<()>,
}

impl Engine {
    pub(crate) fn new(
        service: Service,
        clock: SimulatorClock,
        sender: Box<dyn Sender>,
        concurrency: usize,
    ) -> Self {
        let (changed, stepping) = (Notify::new(), tokio::sync::Mutex::default());
        Self { service: Mutex::new(service), clock, sender, concurrency, changed, stepping }
    }

    pub(crate) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// The time is read under the lock, so that it does not decrease for the service.
    pub(crate) fn with<T>(&self, action: impl FnOnce(&mut Service, Duration) -> T) -> T {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        action(&mut service, self.clock.now())
    }

    pub(crate) async fn call(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let response = self.with(|service, now| service.call(now, request));
        self.changed.notify_one();
        if let Some(delay) = delay_of(&response) {
            sleep(delay).await;
        }
        response
    }

    pub(crate) async fn advance(self: &Arc<Self>, by: Duration) {
        assert!(
            self.clock.is_stepped(),
            "this clock runs by itself and cannot be advanced: give the builder SimulatorClock::stepped()"
        );
        let _one = self.stepping.lock().await;
        let until = self.clock.now().saturating_add(by).min(END);
        while let Some(pushes) = self.due_until(until) {
            let mut sending = JoinSet::new();
            for push in pushes {
                self.start(&mut sending, push).await;
            }
            while let Some(ended) = sending.join_next().await {
                propagate_panic(ended);
            }
        }
        self.clock.step_to(until);
    }

    /// Steps to the next event. It may be the end of a job, with nothing to send.
    fn due_until(&self, until: Duration) -> Option<Vec<Push>> {
        self.with(|service, _| {
            let at = service.next_due().filter(|&at| at <= until)?;
            self.clock.step_to(at);
            Some(service.due(self.clock.now()))
        })
    }

    /// Runs until the simulator is dropped, with a clock that runs by itself.
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
                () = self.changed.notified() => {}
                Some(ended) = sending.join_next() => propagate_panic(ended),
            }
        }
    }

    /// With a concurrency of one, sends the push before it returns, so that deliveries arrive in order.
    async fn start(self: &Arc<Self>, sending: &mut JoinSet<()>, push: Push) {
        if self.concurrency <= 1 {
            return self.push(&push).await;
        }
        while sending.len() >= self.concurrency {
            if let Some(ended) = sending.join_next().await {
                propagate_panic(ended);
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

/// A panic of a custom sender fails the test that uses it.
fn propagate_panic(ended: Result<(), JoinError>) {
    if let Some(panic) = ended.err().and_then(|error| error.try_into_panic().ok()) {
        resume_unwind(panic);
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("clock", &self.clock).finish_non_exhaustive()
    }
}
