//! Group commit: calls that wait for a connection share one transaction, and so one sync of the server's disk.
//!
//! The first call that gets a connection takes all calls that wait. Calls that fail together, because one waits for a lock or has
//! a value that cannot be stored, are done again by halves, so that it does not fail the others. What then still waits for a
//! lock has a transaction of its own.

mod call;

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
    vec,
};

use article_webhook_inbox::Error;
use tokio::{
    sync::{Semaphore, oneshot},
    task::JoinSet,
    time::Instant,
};

use self::call::{Call, MAX_BATCH_CALLS};
use crate::{
    connection::{Access, Database, OpenCall},
    fault::late,
};

/// How many calls and bytes may wait.
const MAX_WAITING_CALLS: usize = 4096;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// How many bytes share a transaction.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// How long a call waits for its transaction to begin. After that its caller has given up.
const WAIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs calls, and those that come together in one transaction: while every turn is taken they wait, and the next turn takes
/// all that wait.
pub(crate) struct Batches<C: Call> {
    database: Arc<Database>,
    waiting: Mutex<Waiting<C>>,
    /// One for each connection that this may use, so that a batch is taken only when it can be sent.
    turns: Semaphore,
    /// One for each transaction of a single call that may run at once, of whatever batch. The next batch needs a connection,
    /// too: what waits for an entry that another program holds would take all of them.
    alone: Semaphore,
    alone_at_once: usize,
}

struct Waiting<C: Call> {
    calls: VecDeque<WaitingCall<C>>,
    bytes: usize,
    /// A task waits for its turn to run what waits.
    has_task: bool,
}

struct WaitingCall<C: Call> {
    call: C,
    since: Instant,
    answer: Answer<C::Answer>,
}

/// Where the answer of a call goes. Closing waits until this is dropped.
struct Answer<T> {
    sender: oneshot::Sender<Result<T, Error>>,
    _open: OpenCall,
}

/// A call, and where its answer goes.
type Unanswered<C> = (C, Answer<<C as Call>::Answer>);

impl<C: Call> Batches<C> {
    /// Batches that use this many connections of their pool.
    pub(crate) fn new(database: Arc<Database>, connections: usize) -> Self {
        let turns = Semaphore::new(connections);
        let alone_at_once = connections.saturating_sub(1).max(1);
        let alone = Semaphore::new(alone_at_once);
        Self { database, waiting: Mutex::default(), turns, alone, alone_at_once }
    }

    /// Runs a call. Its transaction goes on if this future is dropped.
    pub(crate) async fn run(self: &Arc<Self>, call: C) -> Result<C::Answer, Error> {
        let open = self.database.connections.call().await?;
        let (sender, answered) = oneshot::channel();
        let answer = Answer { sender, _open: open };
        let needs_task = self.lock().add(WaitingCall { call, since: Instant::now(), answer })?;
        if needs_task {
            self.begin_task();
        }
        answered.await.unwrap_or_else(|_| Err(Error::unavailable("the store has stopped")))
    }

    /// Begins a task that runs what waits. It also runs the calls that come before its turn.
    fn begin_task(self: &Arc<Self>) {
        let (batches, due) = (Arc::clone(self), DueTask(Some(Arc::clone(self))));
        let task = async move { batches.run_batch(due).await };
        drop(self.database.connections.runtime.spawn(task));
    }

    /// Runs what waits once a connection is free.
    async fn run_batch(self: &Arc<Self>, mut due: DueTask<C>) {
        let Ok(turn) = self.turns.acquire().await else { return };
        // Calls that come at the same time share the first transaction too.
        tokio::task::yield_now().await;
        let (batch, needs_task) = self.lock().take();
        due.0 = None;
        if needs_task {
            self.begin_task();
        }
        if batch.is_empty() {
            return;
        }
        let calls = batch.into_iter().map(|waiting| (waiting.call, waiting.answer)).collect();
        let left = self.run_together(calls).await;
        drop(turn);
        let (mut running, at_once) = (JoinSet::new(), self.alone_at_once.min(left.len()));
        let left = Arc::new(Mutex::new(left.into_iter()));
        for _ in 0..at_once {
            running.spawn(Arc::clone(self).run_alone(Arc::clone(&left)));
        }
        running.join_all().await;
    }

    /// Runs calls in transactions that they share. Answers what is committed before anything waits again, and returns the calls
    /// that wait for a lock.
    async fn run_together(&self, calls: Vec<Unanswered<C>>) -> Vec<Unanswered<C>> {
        let (mut shares, mut locked) = (vec![calls], Vec::new());
        while let Some(share) = shares.pop() {
            let (calls, answers): (Vec<_>, Vec<_>) = share.into_iter().unzip();
            let work = C::work(calls);
            match self.database.retried(C::POOL, Access::Shared, &work).await {
                Ok(done) => {
                    for (answer, done) in answers.into_iter().zip(done) {
                        drop(answer.sender.send(Ok(done)));
                    }
                }
                Err(fault) if fault.may_be_of_one_call() && answers.len() > 1 => {
                    let mut first: Vec<_> = C::calls(work).into_iter().zip(answers).collect();
                    shares.push(first.split_off(first.len() / 2));
                    shares.push(first);
                }
                Err(fault) if fault.is_locked() => {
                    locked.extend(C::calls(work).into_iter().zip(answers));
                }
                Err(fault) => {
                    for answer in answers {
                        drop(answer.sender.send(Err(fault.error())));
                    }
                }
            }
        }
        locked
    }

    /// Runs calls one after the other, each in a transaction of its own, unless its caller has given up.
    async fn run_alone(self: Arc<Self>, left: Arc<Mutex<vec::IntoIter<Unanswered<C>>>>) {
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((call, answer)) = next() {
            let Ok(_permit) = self.alone.acquire().await else { return };
            if !answer.sender.is_closed() {
                let work = C::work(vec![call]);
                let done = self.database.retried(C::POOL, C::ALONE, &work).await;
                let done = done.map_err(Error::from).map(|mut done| done.pop());
                let none = || {
                    Err(Error::unavailable(
                        "the store returned no result for a call: report this as a bug",
                    ))
                };
                drop(answer.sender.send(done.and_then(|done| done.map_or_else(none, Ok))));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<C>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that has not had its turn. If its runtime ends before, the calls that wait for it have no answer.
struct DueTask<C: Call>(Option<Arc<Batches<C>>>);

impl<C: Call> Drop for DueTask<C> {
    fn drop(&mut self) {
        if let Some(batches) = self.0.take() {
            *batches.lock() = Waiting::default();
        }
    }
}

impl<C: Call> Default for Waiting<C> {
    fn default() -> Self {
        Self { calls: VecDeque::new(), bytes: 0, has_task: false }
    }
}

impl<C: Call> Waiting<C> {
    /// Adds a call. Returns whether a task must begin for it, because none waits.
    fn add(&mut self, waiting: WaitingCall<C>) -> Result<bool, Error> {
        let bytes = waiting.call.bytes();
        if self.calls.len() >= MAX_WAITING_CALLS {
            return Err(Error::unavailable("the store is too busy, because too many calls wait"));
        }
        if self.bytes + bytes > MAX_WAITING_BYTES {
            return Err(Error::unavailable("the store is too busy, because too many bytes wait"));
        }
        self.bytes += bytes;
        self.calls.push_back(waiting);
        Ok(!mem::replace(&mut self.has_task, true))
    }

    /// The oldest calls that are still waited for, and whether a task is needed for those that are left. What has waited too
    /// long is answered.
    fn take(&mut self) -> (Vec<WaitingCall<C>>, bool) {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.calls.front() {
            let size = next.call.bytes();
            if batch.len() == MAX_BATCH_CALLS || (bytes > 0 && bytes + size > MAX_BATCH_BYTES) {
                break;
            }
            let Some(waiting) = self.calls.pop_front() else { break };
            self.bytes -= size;
            if waiting.since.elapsed() > WAIT_TIMEOUT {
                let late = late("waiting for a connection", WAIT_TIMEOUT);
                let _ = waiting.answer.sender.send(Err(late));
            } else if !waiting.answer.sender.is_closed() {
                bytes += size;
                batch.push(waiting);
            }
        }
        self.has_task = !self.calls.is_empty();
        (batch, self.has_task)
    }
}

#[cfg(test)]
mod tests {
    use article_webhook_inbox::{
        Digest, EntryKey, Source,
        store::{Arrival, Recorded},
    };
    use tokio::sync::RwLock;

    use super::*;

    fn delivery(
        bytes: usize,
    ) -> (WaitingCall<Arrival>, oneshot::Receiver<Result<Recorded, Error>>) {
        let (sender, answered) = oneshot::channel();
        let open = Arc::new(RwLock::new(())).try_read_owned().unwrap();
        let call = Arrival {
            key: EntryKey::article("job_1".parse().unwrap()),
            source: Source::Webhook,
            target: "default".into(),
            intent: None,
            digest: Digest::of(b""),
            bytes: vec![0; bytes].into(),
        };
        (
            WaitingCall { call, since: Instant::now(), answer: Answer { sender, _open: open } },
            answered,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_is_bounded_and_leaves_out_what_was_given_up() {
        let mut waiting = Waiting::default();
        let mut answers = Vec::new();
        for bytes in [MAX_BATCH_BYTES / 2, MAX_BATCH_BYTES / 2, 1] {
            let (delivery, answered) = delivery(bytes);
            let needs_task = waiting.add(delivery).unwrap();
            assert_eq!(needs_task, answers.is_empty(), "one task runs them all");
            answers.push(answered);
        }
        drop(answers.remove(0));
        let (batch, needs_task) = waiting.take();
        assert_eq!(batch.len(), 2, "the first was given up");
        assert_eq!((waiting.bytes, waiting.calls.len(), needs_task), (0, 0, false));

        for bytes in [MAX_BATCH_BYTES, 1] {
            let (delivery, answered) = delivery(bytes);
            waiting.add(delivery).unwrap();
            answers.push(answered);
        }
        let (batch, needs_task) = waiting.take();
        assert_eq!((batch.len(), needs_task), (1, true), "the second is too much for it");
        assert!(!waiting.take().1);

        let (late, answered) = delivery(1);
        assert!(waiting.add(late).unwrap(), "no task is left");
        tokio::time::advance(WAIT_TIMEOUT * 2).await;
        assert!(waiting.take().0.is_empty());
        assert!(answered.await.unwrap().unwrap_err().is_transient());

        let (large, _answered) = delivery(MAX_WAITING_BYTES + 1);
        assert_eq!(
            waiting.add(large).unwrap_err().to_string(),
            "the store is too busy, because too many bytes wait"
        );
    }
}
