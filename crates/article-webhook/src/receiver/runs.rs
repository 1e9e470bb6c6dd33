use std::{
    collections::{HashMap, VecDeque},
    future::poll_fn,
    hash::{BuildHasher, RandomState},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use super::Delivery;
use crate::article::{Event, JobId};

/// How many successes are remembered at most. The oldest are removed first.
const MAX_REMEMBERED: usize = 4096;

/// The runs of handlers under a receiver's layer: at most one at a time for each job.
pub(crate) struct Runs {
    hasher: RandomState,
    table: Mutex<RunTable>,
}

impl Runs {
    pub(super) fn new(join_limit: Duration, remember_for: Duration) -> Self {
        let table = RunTable::new(join_limit, remember_for);
        Self { hasher: RandomState::new(), table: Mutex::new(table) }
    }

    /// What a delivery has to do before its handler may run.
    pub(crate) fn enter(&self, key: &RunKey, body: &[u8], now: Instant) -> Entrance {
        let body = self.hasher.hash_one(body);
        self.table().enter(key, body, now)
    }

    /// The handler has ended, and so has the wait of those that joined it.
    pub(crate) fn end(&self, run: &Run, end: RunEnd, now: Instant) {
        let waiting_for_all = self.table().end(run, end, now);
        waiting_for_all.into_iter().for_each(Waker::wake);
        run.ending.set(end);
    }

    /// Resolves when no handler runs.
    pub(super) async fn ended(&self) {
        poll_fn(|context| {
            let mut table = self.table();
            if table.running == 0 {
                return Poll::Ready(());
            }
            add(&mut table.waiting_for_all, context.waker());
            Poll::Pending
        })
        .await;
    }

    /// A poisoned lock still holds a complete table: nothing in it panics between two changes.
    fn table(&self) -> MutexGuard<'_, RunTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What two deliveries have in common if only one of them may run at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RunKey {
    route: Arc<str>,
    target: Arc<str>,
    intent: Option<Box<str>>,
    event: Event,
    job_id: JobId,
}

impl RunKey {
    pub(crate) fn new(route: &Arc<str>, delivery: &Delivery) -> Self {
        Self {
            route: Arc::clone(route),
            target: Arc::clone(&delivery.target),
            intent: delivery.intent.clone(),
            event: delivery.event.clone(),
            job_id: delivery.job_id.clone(),
        }
    }
}

/// The right to run the handler for a key.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    key: RunKey,
    ending: Arc<Ending>,
}

/// How a handler has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// With a 2xx.
    Succeeded,
    /// With another status, with a panic, or with its task.
    Failed,
}

/// What a delivery has to do before its handler may run.
#[derive(Debug)]
pub(crate) enum Entrance {
    /// Run the handler. `overtakes` if an earlier run was joined for as long as is allowed, and still runs.
    Run { run: Run, overtakes: bool },
    /// The same delivery is being handled: wait for its end, and answer as it is answered.
    Join(Arc<Ending>),
    /// Another body of the job is being handled: wait for its end, and enter again.
    Wait(Arc<Ending>),
    /// The same delivery was handled with success.
    Done,
}

/// The decisions, as a state machine without a clock.
struct RunTable {
    join_limit: Duration,
    remember_for: Duration,
    /// The runs that may be joined or waited for.
    current: HashMap<RunKey, Current>,
    /// When each body succeeded. Whether an answer reaches its sender cannot be known, so each success is remembered.
    succeeded: HashMap<(RunKey, u64), Instant>,
    /// The same, oldest first. A body comes again when it succeeds again.
    order: VecDeque<(Instant, (RunKey, u64))>,
    /// The number of all runs, those that were overtaken included.
    running: usize,
    waiting_for_all: Vec<Waker>,
}

struct Current {
    body: u64,
    since: Instant,
    ending: Arc<Ending>,
}

impl RunTable {
    fn new(join_limit: Duration, remember_for: Duration) -> Self {
        Self {
            join_limit,
            remember_for,
            current: HashMap::new(),
            succeeded: HashMap::new(),
            order: VecDeque::new(),
            running: 0,
            waiting_for_all: Vec::new(),
        }
    }

    fn enter(&mut self, key: &RunKey, body: u64, now: Instant) -> Entrance {
        let current = self.current.get(key);
        if let Some(current) = current.filter(|it| now < it.since + self.join_limit) {
            let ending = Arc::clone(&current.ending);
            return if current.body == body {
                Entrance::Join(ending)
            } else {
                Entrance::Wait(ending)
            };
        }
        let overtakes = current.is_some();
        self.remove_old(now);
        if self.succeeded.contains_key(&(key.clone(), body)) {
            return Entrance::Done;
        }
        let ending = Arc::<Ending>::default();
        let run = Run { key: key.clone(), ending: Arc::clone(&ending) };
        self.current.insert(key.clone(), Current { body, since: now, ending });
        self.running += 1;
        Entrance::Run { run, overtakes }
    }

    /// Returns those to wake that wait until no handler runs.
    fn end(&mut self, run: &Run, end: RunEnd, now: Instant) -> Vec<Waker> {
        // A run that was overtaken is not in its place any more, and its success is not remembered: the answer
        // is the answer of the run that overtook it.
        let current = self.current.get(&run.key).filter(|it| Arc::ptr_eq(&it.ending, &run.ending));
        if let Some(&Current { body, .. }) = current {
            self.current.remove(&run.key);
            if end == RunEnd::Succeeded {
                let success = (run.key.clone(), body);
                self.succeeded.insert(success.clone(), now);
                self.order.push_back((now, success));
            }
        }
        self.remove_old(now);
        self.running -= 1;
        if self.running == 0 { mem::take(&mut self.waiting_for_all) } else { Vec::new() }
    }

    /// Removes successes that are too old, and the oldest of too many.
    fn remove_old(&mut self, now: Instant) {
        while let Some((at, success)) = self.order.front() {
            if self.order.len() <= MAX_REMEMBERED && now < *at + self.remember_for {
                return;
            }
            if self.succeeded.get(success) == Some(at) {
                self.succeeded.remove(success);
            }
            self.order.pop_front();
        }
    }
}

/// The end of a run, which any number of deliveries may wait for.
#[derive(Debug, Default)]
pub(crate) struct Ending(Mutex<(Option<RunEnd>, Vec<Waker>)>);

impl Ending {
    fn set(&self, end: RunEnd) {
        let waiting = {
            let mut ending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            ending.0 = Some(end);
            mem::take(&mut ending.1)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// How the handler has ended, once it has.
    pub(crate) async fn wait(&self) -> RunEnd {
        poll_fn(|context| {
            let mut ending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(end) = ending.0 {
                return Poll::Ready(end);
            }
            add(&mut ending.1, context.waker());
            Poll::Pending
        })
        .await
    }
}

fn add(waiting: &mut Vec<Waker>, waker: &Waker) {
    if !waiting.iter().any(|other| other.will_wake(waker)) {
        waiting.push(waker.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOIN_LIMIT: Duration = Duration::from_secs(120);

    fn table() -> RunTable {
        RunTable::new(JOIN_LIMIT, Duration::from_secs(900))
    }

    fn key(route: &str, target: &str, job: &str) -> RunKey {
        let job_id = job.parse().unwrap();
        let event = Event::ArticleComplete;
        RunKey { route: route.into(), target: target.into(), intent: None, event, job_id }
    }

    fn runs(entrance: Entrance) -> Run {
        let Entrance::Run { run, overtakes: false } = entrance else { panic!("{entrance:?}") };
        run
    }

    #[test]
    fn one_handler_runs_at_a_time_for_each_route_target_and_job() {
        let (mut table, now) = (table(), Instant::now());
        let mut enter = |key: &RunKey, body| table.enter(key, body, now);
        let one = key("/", "blog", "job_1");
        runs(enter(&one, 1));
        assert!(matches!(enter(&one, 1), Entrance::Join(_)));
        assert!(matches!(enter(&one, 2), Entrance::Wait(_)));
        let of_an_order = RunKey { intent: Some("order-1".into()), ..one.clone() };
        let other_event = RunKey { event: Event::from("article.updated"), ..one };
        for other in [
            key("/other", "blog", "job_1"),
            key("/", "shop", "job_1"),
            key("/", "blog", "job_2"),
            of_an_order,
            other_event,
        ] {
            runs(enter(&other, 1));
        }
    }

    #[test]
    fn a_run_that_exceeds_the_join_limit_is_overtaken() {
        let (mut table, began) = (table(), Instant::now());
        let key = key("/", "blog", "job_1");
        let hung = runs(table.enter(&key, 1, began));
        let limit = began + JOIN_LIMIT;
        let before = table.enter(&key, 1, limit - Duration::from_millis(1));
        assert!(matches!(before, Entrance::Join(_)));
        let after = table.enter(&key, 1, limit);
        let Entrance::Run { run, overtakes: true } = after else { panic!("{after:?}") };
        // The end of the run that was overtaken is not the end of the one beside it.
        table.end(&hung, RunEnd::Succeeded, limit);
        assert!(matches!(table.enter(&key, 1, limit), Entrance::Join(_)));
        table.end(&run, RunEnd::Failed, limit);
        runs(table.enter(&key, 1, limit));
    }

    #[test]
    fn a_success_is_remembered_for_its_body_and_its_time() {
        let (mut table, now) = (table(), Instant::now());
        let key = key("/", "blog", "job_1");
        let first = runs(table.enter(&key, 1, now));
        table.end(&first, RunEnd::Succeeded, now);
        assert!(matches!(table.enter(&key, 1, now), Entrance::Done));
        let other_body = runs(table.enter(&key, 2, now));
        table.end(&other_body, RunEnd::Failed, now);

        let after_15_minutes = now + Duration::from_secs(900);
        let before = after_15_minutes - Duration::from_millis(1);
        assert!(matches!(table.enter(&key, 1, before), Entrance::Done));
        runs(table.enter(&key, 1, after_15_minutes));
        assert_eq!((table.succeeded.len(), table.order.len()), (0, 0));
    }

    #[test]
    fn each_body_of_a_job_is_remembered_from_its_last_success_on() {
        let (mut table, now) = (table(), Instant::now());
        let key = key("/", "blog", "job_1");
        let later = now + Duration::from_secs(60);
        for (body, at) in [(1, now), (2, later)] {
            let run = runs(table.enter(&key, body, at));
            table.end(&run, RunEnd::Succeeded, at);
        }
        assert!(matches!(table.enter(&key, 1, later), Entrance::Done));
        let first_is_old = now + Duration::from_secs(900);
        assert!(matches!(table.enter(&key, 2, first_is_old), Entrance::Done));
        let again = runs(table.enter(&key, 1, first_is_old));
        table.end(&again, RunEnd::Succeeded, first_is_old);
        let second_is_old = later + Duration::from_secs(900);
        assert!(matches!(table.enter(&key, 1, second_is_old), Entrance::Done));
    }

    #[test]
    fn the_oldest_of_too_many_successes_is_removed() {
        let (mut table, now) = (table(), Instant::now());
        let keys: Vec<_> = (0..=MAX_REMEMBERED).map(|n| key("/", "blog", &n.to_string())).collect();
        for key in &keys {
            let run = runs(table.enter(key, 1, now));
            table.end(&run, RunEnd::Succeeded, now);
        }
        runs(table.enter(&keys[0], 1, now));
        assert!(matches!(table.enter(&keys[1], 1, now), Entrance::Done));
        assert_eq!((table.succeeded.len(), table.order.len()), (MAX_REMEMBERED, MAX_REMEMBERED));
    }
}
