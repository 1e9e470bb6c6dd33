use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{
    Entry, EntryKey, Source, State, cause_group,
    codec::{self, NewerFields},
    entry::{Failure, MAX_FAILURES_PER_ENTRY},
    timestamp::later,
};

/// The part of a stored entry that changes, and every transition of it as a pure function.
///
/// A store loads a row, calls a transition with the event and the time, and writes the row back. It keeps the rest
/// of the entry beside it: the id, the key, the time of the first body, and the bodies. The time passed to a
/// transition must be a whole millisecond, as [`from_millis`](crate::store::from_millis) returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct Row {
    /// The state of the work on the entry.
    #[serde(skip)]
    pub state: State,
    /// How many attempts began since it was stored or requeued.
    #[serde(skip)]
    pub attempts: u32,
    /// The fence of the last claim; 0 before the first.
    #[serde(skip)]
    pub fence: i64,
    /// Waiting: when it is due. Leased: when the lease ends. Otherwise: when it entered its state.
    #[serde(skip, default = "crate::codec::no_time")]
    pub at: SystemTime,
    /// When it entered its state. Waiting: when the wait began.
    #[serde(skip, default = "crate::codec::no_time")]
    pub since: SystemTime,
    /// How many attempts in a row ended without an outcome: the process died, or the lease ended.
    #[serde(default)]
    pub interrupted: u32,
    /// How many bodies differed from all earlier ones, including those that were not kept.
    #[serde(default)]
    pub conflicts: u32,
    /// The node that claimed it last, where stores have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Box<str>>,
    /// Why it waits again, or is dead, unhandled or corrupt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// When it was requeued last. Those that were requeued together have the same time.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "codec::optional_millis")]
    pub requeued_at: Option<SystemTime>,
    /// The last causes, the oldest first. At most [`MAX_FAILURES_PER_ENTRY`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// What only a newer version knows.
    #[serde(flatten)]
    pub newer: NewerFields,
}

/// The failure of an attempt that ended without an outcome.
const INTERRUPTED: &str = "the attempt did not end: its process or its lease ended first";

/// What becomes of the cause of an entry that enters another state.
pub(super) enum Cause {
    /// There is none.
    None,
    /// It stays as it is.
    Kept,
    /// Something failed, for this cause.
    New(String),
}

impl Row {
    /// A row with its columns. There is no `document` if that cannot be trusted. An application's transaction that completes
    /// an entry changes the columns alone, so one that is done has no cause.
    #[must_use]
    pub fn read(
        document: Option<Self>,
        (state, attempts, fence): (State, u32, i64),
        (at, since): (SystemTime, SystemTime),
    ) -> Self {
        let document = document.unwrap_or_else(|| Self::new(at));
        let row = Self { state, attempts, fence, at, since, ..document };
        match state {
            State::Done => Self { cause: None, ..row },
            _ => row,
        }
    }

    /// The row of an entry whose first body is stored now.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        Self {
            state: State::Waiting,
            attempts: 0,
            fence: 0,
            at: now,
            since: now,
            interrupted: 0,
            conflicts: 0,
            node: None,
            cause: None,
            requeued_at: None,
            failures: Vec::new(),
            newer: NewerFields::default(),
        }
    }

    /// The entry as the inbox shows it. `target`, `source` and `length` are those of its first body.
    #[must_use]
    pub fn into_entry(
        self,
        id: i64,
        key: EntryKey,
        received_at: SystemTime,
        (target, source, length): (Box<str>, Source, Option<u64>),
        title: Option<Box<str>>,
    ) -> Entry {
        let Self {
            state,
            attempts,
            fence: _,
            at,
            since,
            interrupted: _,
            conflicts,
            node,
            cause,
            requeued_at,
            failures,
            newer: _,
        } = self;
        Entry {
            id,
            key,
            state,
            attempts,
            received_at,
            target,
            source,
            length,
            title,
            at,
            since,
            conflicts,
            node,
            cause,
            requeued_at,
            failures,
        }
    }

    /// The [group](crate::cause_group) of its cause.
    #[must_use]
    pub fn group(&self) -> Option<String> {
        self.cause.as_deref().map(cause_group)
    }

    /// The entry waits, and is due after a pause.
    pub(super) fn wait(&mut self, pause: Duration, cause: Cause, now: SystemTime) {
        self.enter(State::Waiting, later(now, pause), cause, now);
    }

    /// The entry is done, dead, unhandled or corrupt.
    pub(super) fn end(&mut self, state: State, cause: Cause, now: SystemTime) {
        self.enter(state, now, cause, now);
    }

    fn enter(&mut self, state: State, at: SystemTime, cause: Cause, now: SystemTime) {
        (self.state, self.at, self.since) = (state, at, now);
        match cause {
            Cause::None => self.cause = None,
            Cause::Kept => {}
            Cause::New(cause) => {
                self.add_failure(cause.clone(), now);
                self.cause = Some(cause);
            }
        }
    }

    /// The lease has ended without an outcome.
    pub(super) fn interrupt(&mut self, now: SystemTime) {
        self.interrupted = self.interrupted.saturating_add(1);
        self.add_failure(INTERRUPTED.into(), now);
    }

    fn add_failure(&mut self, cause: String, now: SystemTime) {
        self.failures.push(Failure { at: now, attempt: self.attempts, cause });
        let excess = self.failures.len().saturating_sub(MAX_FAILURES_PER_ENTRY);
        self.failures.drain(..excess);
    }
}
