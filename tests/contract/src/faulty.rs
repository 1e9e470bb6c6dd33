//! A store with faults, for the tests of those that use a store.

use std::{
    any::type_name,
    collections::HashMap,
    future::pending,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use article_webhook_inbox::{
    Clock, Completion, Error, Finding, MemoryStore,
    store::{
        Lease, Pending, StoreHealth,
        tables::{Run, script::Script},
    },
};
use tokio::{sync::Notify, time::sleep};

/// What is wrong with a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fault {
    /// It fails that many times, and then works.
    Fails(u32),
    /// It finds damage that many times, and then works.
    Damaged(u32),
    /// Once, it works, but its answer is lost.
    AnswerLost,
    /// It fails with an error that is not transient.
    Unusable,
    /// It never returns.
    Hangs,
    /// It begins only after a notification.
    Waits(Arc<Notify>),
    /// It works, after a pause by a timer of Tokio.
    Slow(Duration),
    /// Its code panics.
    Panics,
    /// Once, the clock shows so much more before it works.
    Late(Duration),
    /// Once, the clock shows so much more when it has worked.
    Takes(Duration),
}

impl Fault {
    /// It fails, and may succeed later.
    pub const DOWN: Self = Self::Fails(u32::MAX);

    /// What is wrong with the next call.
    fn next(&self) -> Option<Self> {
        match self {
            Self::Fails(times) if *times > 1 => Some(Self::Fails(times - 1)),
            Self::Damaged(times) if *times > 1 => Some(Self::Damaged(times - 1)),
            Self::Fails(_)
            | Self::Damaged(_)
            | Self::AnswerLost
            | Self::Late(_)
            | Self::Takes(_) => None,
            lasting => Some(lasting.clone()),
        }
    }
}

/// The memory store, with faults. Clones are the same store. A call is named by the type of its script.
#[derive(Debug, Clone)]
pub struct Faulty {
    store: Arc<MemoryStore>,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    faults: HashMap<&'static str, Fault>,
    calls: HashMap<&'static str, u32>,
}

/// Every call that a worker or an inbox makes while it works.
const CALLS: [&str; 8] =
    ["Record", "Claim", "Extend", "Settle", "Expecting", "Prune", "Probe", "DueSince"];

impl Faulty {
    /// An empty store on a clock, without faults.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let store = Arc::new(MemoryStore::new(clock.clone()));
        Self { store, clock, state: Arc::default() }
    }

    /// Gives the call a fault.
    pub fn fault(&self, call: &'static str, fault: Fault) {
        self.state.lock().unwrap().faults.insert(call, fault);
    }

    /// Gives a fault to every call that a worker or an inbox makes while it works.
    pub fn fault_everywhere(&self, fault: &Fault) {
        CALLS.iter().for_each(|call| self.fault(call, fault.clone()));
    }

    /// Ends all faults.
    pub fn repair(&self) {
        self.state.lock().unwrap().faults.clear();
    }

    /// How often the call was made.
    #[must_use]
    pub fn calls(&self, call: &str) -> u32 {
        self.state.lock().unwrap().calls.get(call).copied().unwrap_or_default()
    }

    fn through<'a, T: Send + 'a>(
        &'a self,
        call: &'static str,
        result: Pending<'a, T>,
    ) -> Pending<'a, T> {
        Box::pin(async move {
            let fault = {
                let mut state = self.state.lock().unwrap();
                *state.calls.entry(call).or_default() += 1;
                let fault = state.faults.remove(call);
                let next = fault.as_ref().and_then(Fault::next);
                state.faults.extend(next.map(|next| (call, next)));
                fault
            };
            match &fault {
                Some(Fault::Fails(_)) => return Err(Error::unavailable("the store is down")),
                Some(Fault::Damaged(_)) => {
                    return Err(Error::damaged("a page of the store is damaged"));
                }
                Some(Fault::Unusable) => {
                    return Err(Error::unusable("an operator must repair the store"));
                }
                Some(Fault::Panics) => panic!("the store has a defect"),
                Some(Fault::Hangs) => pending().await,
                Some(Fault::Waits(until)) => until.notified().await,
                Some(Fault::Slow(pause)) => sleep(*pause).await,
                Some(Fault::Late(time)) => self.clock.advance(*time),
                _ => {}
            }
            let result = result.await;
            match fault {
                Some(Fault::AnswerLost) => return Err(Error::unavailable("the answer was lost")),
                Some(Fault::Takes(time)) => self.clock.advance(time),
                _ => {}
            }
            result
        })
    }
}

impl Run for Faulty {
    fn now(&self) -> SystemTime {
        Run::now(&*self.store)
    }

    fn write<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        let name = type_name::<S>();
        let name = name.rsplit_once("::").map_or(name, |(_, name)| name);
        self.through(name, self.store.write(script))
    }

    fn read<S: Script>(&self, script: S) -> Pending<'_, S::Output> {
        self.write(script)
    }

    fn completion(&self, lease: Lease) -> Result<Completion, Error> {
        Run::completion(&*self.store, lease)
    }

    fn check(&self) -> Pending<'_, Vec<Finding>> {
        Run::check(&*self.store)
    }

    fn probe(&self) -> Pending<'_, ()> {
        self.through("Probe", Run::probe(&*self.store))
    }

    fn health(&self) -> Pending<'_, StoreHealth> {
        Run::health(&*self.store)
    }

    fn close(&self) -> Pending<'_, ()> {
        Run::close(&*self.store)
    }
}
