use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
    },
    time::{Duration, Instant, SystemTime},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::shared::store_has_stopped;
use crate::{
    Error,
    script::Effect,
    store::sqlite::{connection::BUSY_TIMEOUT, damage::Findings, fault::Fault},
};

/// How many calls may wait, and how many bytes of bodies.
const MAX_WAITING: usize = 4096;
const MAX_WAITING_BYTES: usize = 64 << 20;

/// How many calls go into one transaction, and how many bytes. A larger call is a transaction of its own.
const MAX_GROUP: usize = 512;
const MAX_GROUP_BYTES: usize = 8 << 20;

/// How long a call may wait until its transaction begins.
const MAX_WAIT: Duration = BUSY_TIMEOUT;

/// How long a transaction waits for the next deliveries of senders that were just answered. Each of these deliveries would
/// be too late for it otherwise, and would need a sync of its own.
const COMMIT_DELAY: Duration = Duration::from_micros(150);

/// A call that waits for the writer.
pub(super) struct Call {
    pub(super) effect: Effect,
    pub(super) work: Box<dyn Work>,
    pub(super) since: Instant,
}

impl Call {
    /// Whether the call has waited too long.
    pub(super) fn is_late(&self) -> bool {
        self.since.elapsed() >= MAX_WAIT
    }

    fn is_delivery(&self) -> bool {
        matches!(self.effect, Effect::Adds(1..))
    }
}

pub(super) trait Work: Send {
    /// Runs in a transaction. It may run again in another one, if another call of the group fails.
    fn run(
        &mut self,
        connection: &mut Connection,
        now: SystemTime,
        findings: &Findings,
    ) -> Result<(), Fault>;

    /// Answers the caller: with what the last run returned, or with a failure.
    fn answer(self: Box<Self>, failure: Option<Error>);
}

/// What a call does, and what its last run returned.
struct Run<T, F> {
    run: F,
    value: Option<T>,
    caller: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> Work for Run<T, F>
where
    T: Send,
    F: FnMut(&mut Connection, SystemTime, &Findings) -> Result<T, Fault> + Send,
{
    fn run(
        &mut self,
        connection: &mut Connection,
        now: SystemTime,
        findings: &Findings,
    ) -> Result<(), Fault> {
        self.value = Some((self.run)(connection, now, findings)?);
        Ok(())
    }

    fn answer(self: Box<Self>, failure: Option<Error>) {
        let answer = match failure {
            Some(error) => Err(error),
            None => self.value.ok_or_else(store_has_stopped),
        };
        // The caller may have dropped its future. Then the answer is dropped here.
        let _ = self.caller.send(answer);
    }
}

/// The channel of the writer: the end of its callers and its own.
pub(super) fn channel() -> (Calls, Groups) {
    let (sender, receiver) = mpsc::sync_channel(MAX_WAITING);
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let calls =
        Calls { sender: Mutex::new(Some(sender)), waiting_bytes: Arc::clone(&waiting_bytes) };
    let groups = Groups {
        receiver,
        waiting_bytes,
        group: Vec::new(),
        bytes: 0,
        next: None,
        expected: 0,
        gather_until: Instant::now(),
    };
    (calls, groups)
}

/// Where calls come in.
pub(in crate::store::sqlite) struct Calls {
    /// `None` after the end.
    sender: Mutex<Option<SyncSender<Call>>>,
    waiting_bytes: Arc<AtomicUsize>,
}

impl Calls {
    /// Makes a call, and waits for its answer.
    pub(in crate::store::sqlite) async fn call<T: Send + 'static>(
        &self,
        effect: Effect,
        run: impl FnMut(&mut Connection, SystemTime, &Findings) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Error> {
        let answer = self.push(effect, run)?;
        answer.await.map_err(|_| store_has_stopped())?
    }

    /// Adds a call, unless too much waits already. A call that is larger than the limit of all waiting bytes waits alone.
    pub(super) fn push<T: Send + 'static>(
        &self,
        effect: Effect,
        run: impl FnMut(&mut Connection, SystemTime, &Findings) -> Result<T, Fault> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, Error>>, Error> {
        let (caller, answer) = oneshot::channel();
        let work = Box::new(Run { run, value: None, caller });
        let call = Call { effect, work, since: Instant::now() };
        let sender = self.lock();
        let sender = sender.as_ref().ok_or_else(Error::closed)?;
        let waiting = self.waiting_bytes.load(Relaxed);
        if waiting > 0 && waiting.saturating_add(effect.bytes()) > MAX_WAITING_BYTES {
            return Err(too_busy("too many bytes wait for the disk"));
        }
        // The writer subtracts them as soon as it has the call.
        self.waiting_bytes.fetch_add(effect.bytes(), Relaxed);
        sender.try_send(call).map_err(|refused| {
            self.waiting_bytes.fetch_sub(effect.bytes(), Relaxed);
            match refused {
                TrySendError::Full(_) => too_busy("too many calls wait for the disk"),
                TrySendError::Disconnected(_) => store_has_stopped(),
            }
        })?;
        Ok(answer)
    }

    /// Refuses every later call. Calls that wait are still answered. `false` if that was so before.
    pub(in crate::store::sqlite) fn close(&self) -> bool {
        self.lock().take().is_some()
    }

    pub(in crate::store::sqlite) fn is_closed(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Option<SyncSender<Call>>> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error of a call that cannot wait, or has waited too long.
pub(super) fn too_busy(why: &str) -> Error {
    Error::unavailable(format!("the store is too busy, because {why}"))
}

/// Where the writer takes its groups from. A group is all that waits, within the limits of one transaction.
pub(super) struct Groups {
    receiver: Receiver<Call>,
    waiting_bytes: Arc<AtomicUsize>,
    /// The next group, as far as its calls have come, and the bytes in it.
    group: Vec<Call>,
    bytes: usize,
    /// A call that did not fit into the group.
    next: Option<Call>,
    /// How many deliveries the next group may have, if the senders that were just answered deliver again at once …
    expected: usize,
    /// … and until when it waits for them.
    gather_until: Instant,
}

/// What the writer does next.
pub(super) enum Next {
    /// It commits these calls.
    Group(Vec<Call>),
    /// No call came for the given time.
    Idle,
    /// It ends.
    End,
}

impl Groups {
    /// Waits for calls, for the end, or until no call has come for `idle`.
    pub(super) fn next(&mut self, idle: Option<Duration>) -> Next {
        self.take_waiting();
        if self.group.is_empty() {
            let first = match idle {
                Some(idle) => self.receiver.recv_timeout(idle),
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match first {
                Ok(first) => self.add(first),
                Err(RecvTimeoutError::Timeout) => return Next::Idle,
                Err(RecvTimeoutError::Disconnected) => return Next::End,
            }
            self.take_waiting();
        }
        // Nothing but deliveries waits for others.
        let mut gathers = self.group.iter().all(Call::is_delivery);
        while gathers && self.next.is_none() && self.group.len() < self.expected {
            let left = self.gather_until.saturating_duration_since(Instant::now());
            let Ok(call) = self.receiver.recv_timeout(left) else { break };
            gathers = call.is_delivery();
            self.add(call);
        }
        (self.bytes, self.expected) = (0, 0);
        Next::Group(mem::take(&mut self.group))
    }

    /// Answers a group that was committed. What its senders deliver at once, and what waits now, can be the next group.
    pub(super) fn answer(
        &mut self,
        group: Vec<Call>,
        mut failure: impl FnMut(&Call) -> Option<Error>,
    ) {
        self.take_waiting();
        self.expected = self.group.len() + group.iter().filter(|call| call.is_delivery()).count();
        for call in group {
            let failure = failure(&call);
            call.work.answer(failure);
        }
        self.gather_until = Instant::now() + COMMIT_DELAY;
    }

    fn take_waiting(&mut self) {
        if let Some(next) = self.next.take() {
            self.add(next);
        }
        while self.next.is_none()
            && let Ok(call) = self.receiver.try_recv()
        {
            self.add(call);
        }
    }

    fn add(&mut self, call: Call) {
        let bytes = call.effect.bytes();
        let fits = self.group.len() < MAX_GROUP && self.bytes + bytes <= MAX_GROUP_BYTES;
        if !self.group.is_empty() && !fits {
            self.next = Some(call);
            return;
        }
        self.waiting_bytes.fetch_sub(bytes, Relaxed);
        self.bytes += bytes;
        self.group.push(call);
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn push(calls: &Calls, effect: Effect) -> Result<oneshot::Receiver<Result<(), Error>>, Error> {
        calls.push(effect, |_, _, _| Ok(()))
    }

    fn next(groups: &mut Groups) -> Vec<Call> {
        let Next::Group(group) = groups.next(None) else { panic!("nothing waits") };
        group
    }

    fn sizes(groups: &mut Groups) -> Vec<usize> {
        let mut sizes = Vec::new();
        while let Next::Group(group) = groups.next(Some(Duration::ZERO)) {
            sizes.push(group.len());
        }
        sizes
    }

    #[test]
    fn when_the_writer_ends_no_caller_waits_for_ever() {
        let (calls, groups) = channel();
        let mut waiting = push(&calls, Effect::Adds(0)).unwrap();
        drop(groups);
        assert_eq!(waiting.try_recv().unwrap_err(), oneshot::error::TryRecvError::Closed);
        let refused = push(&calls, Effect::Adds(0)).err().unwrap();
        assert_eq!(refused.to_string(), "the store has stopped: start the program again");
    }

    #[test]
    fn too_many_calls_are_refused_until_some_are_taken() {
        let (calls, mut groups) = channel();
        for _ in 0..MAX_WAITING {
            push(&calls, Effect::Adds(0)).unwrap();
        }
        let refused = push(&calls, Effect::Adds(0)).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "the store is too busy, because too many calls wait for the disk"
        );
        assert_eq!(next(&mut groups).len(), MAX_GROUP);
        push(&calls, Effect::Adds(0)).unwrap();
    }

    #[test]
    fn too_many_bytes_are_refused_until_some_are_taken() {
        let (calls, mut groups) = channel();
        push(&calls, Effect::Adds(MAX_WAITING_BYTES * 2)).unwrap();
        let refused = push(&calls, Effect::Adds(0)).err().unwrap();
        assert_eq!(
            refused.to_string(),
            "the store is too busy, because too many bytes wait for the disk"
        );
        assert_eq!(next(&mut groups).len(), 1);
        push(&calls, Effect::Adds(0)).unwrap();
    }

    #[test]
    fn a_group_has_limits_of_calls_and_of_bytes() {
        let (calls, mut groups) = channel();
        for _ in 0..MAX_GROUP + 1 {
            push(&calls, Effect::Adds(1)).unwrap();
        }
        assert_eq!(sizes(&mut groups), [MAX_GROUP, 1]);
        for bytes in [MAX_GROUP_BYTES / 2, MAX_GROUP_BYTES / 4, MAX_GROUP_BYTES * 2, 1] {
            push(&calls, Effect::Adds(bytes)).unwrap();
        }
        assert_eq!(sizes(&mut groups), [2, 1, 1]);
    }

    #[test]
    fn what_waits_when_the_calls_are_closed_is_still_taken() {
        let (calls, mut groups) = channel();
        push(&calls, Effect::Adds(0)).unwrap();
        assert!(calls.close());
        assert!(!calls.close());
        let refused = push(&calls, Effect::Adds(0)).err().unwrap();
        assert_eq!(refused.to_string(), "the inbox is closed");
        assert_eq!(next(&mut groups).len(), 1);
        assert!(matches!(groups.next(None), Next::End));
    }
}
