use std::time::SystemTime;

use article_webhook::{Event, JobId};
use serde::{Deserialize, Serialize};

use super::ArticleEntry;
use crate::{
    Digest, EntryKey,
    call::{Expect, ExpectedJob, JobState, Missing, Reason},
    codec::{self, NewerFields},
    timestamp::rounded,
};

/// The part of a stored job that changes, and every transition of it as a pure function.
///
/// A store loads a row, calls a transition with the event and the time, and writes the row back, as it does with the
/// [`Row`](crate::store::Row) of an entry. It keeps the id and the job id beside it. The article's entry and this row
/// change in one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a store loads and saves every field")]
pub struct JobRow {
    /// What is known about its article.
    #[serde(skip)]
    pub state: JobState,
    /// Why it is expected.
    #[serde(with = "crate::codec::text")]
    pub reason: Reason,
    /// The intent that it was ordered with.
    #[serde(skip)]
    pub intent: Option<Box<str>>,
    /// An intent to whose URL it was delivered, while nothing else says that it is the job of that order. It may be bound to that
    /// intent, and then is [`intent`](Self::intent) too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<Box<str>>,
    /// Since when it is expected: since it was stored, or expected again after it ended.
    #[serde(skip, default = "crate::codec::no_time")]
    pub expected_at: SystemTime,
    /// Expected: when it is polled. Polling: when the lease ends. Otherwise: when it ended.
    #[serde(skip, default = "crate::codec::no_time")]
    pub at: SystemTime,
    /// How many polls began since it is expected.
    #[serde(skip)]
    pub polls: u32,
    /// The fence of the last poll; 0 before the first.
    #[serde(skip)]
    pub fence: i64,
    /// The API key that it was ordered with, or with which the service reported its state last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u64>,
    /// How often in a row the service did not know it, when it was polled with that key or none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// When the service delivered its article first.
    #[serde(skip)]
    pub pushed_at: Option<SystemTime>,
    /// When the API gave its article. While it is open: when the API gave a body that could not be read.
    #[serde(skip)]
    pub collected_at: Option<SystemTime>,
    /// When the API gave the first of the bodies that could not be read, since the service last worked on it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::codec::optional_millis"
    )]
    pub unreadable_since: Option<SystemTime>,
    /// What the last answer reported, if it ends the job once another reports the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<Digest>,
    /// As [`ExpectedJob::cause`]. Collected: that an earlier body of the API could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What only a newer version knows.
    #[serde(flatten)]
    pub newer: NewerFields,
}

impl JobRow {
    /// The row of a job that is expected from now on. If its article came before, it has ended already, unless no body
    /// of that can be read.
    #[must_use]
    pub fn new(expect: &Expect, entry: Option<&ArticleEntry>, now: SystemTime) -> Self {
        let mut row = Self {
            state: JobState::Expected,
            reason: expect.reason.clone(),
            intent: expect.intent.clone(),
            unproven: None,
            expected_at: now,
            at: rounded(expect.at),
            polls: 0,
            fence: 0,
            key: expect.key,
            missing: None,
            pushed_at: entry.and_then(|entry| entry.pushed_at),
            collected_at: entry.and_then(|entry| entry.collected_at),
            unreadable_since: None,
            unconfirmed: None,
            cause: None,
            newer: NewerFields::default(),
        };
        if let Some(entry) = entry {
            row.sync_with_entry(entry.state, entry.source(), now);
            row.collected_at = entry.collected_at;
        }
        row
    }

    /// What a document that cannot be trusted leaves of a row. Its columns are still missing.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the document is one of a job")]
    pub fn unread() -> Self {
        let document = r#"{"reason":"ordered_elsewhere"}"#;
        codec::row(document).expect("all other fields have a default")
    }

    /// The event of the entry that the job ended with: of its article, or of its failure. Retention may have removed that.
    #[must_use]
    pub fn ended_with(&self, job_id: &JobId) -> Option<Event> {
        match self.state {
            JobState::Arrived | JobState::Collected => Some(Event::ArticleComplete),
            JobState::Failed => Some(EntryKey::failure(job_id.clone()).event),
            _ => None,
        }
    }

    /// The job is expected again.
    ///
    /// - It failed, is unreadable or was not found: it is opened again, but not by a backfill.
    /// - It is open: a refused delivery shows that the article is there, so that it is polled at the given time if that
    ///   is earlier. A poll that is under way may have been answered before, so that it ends with a lost lease, and the job
    ///   is polled again at the given time. The refusal is noted as its cause, unless its reason says it. Another reason
    ///   than `backfill` takes the place of `backfill`. If the given time has come, a person wants it now: it is polled then, unless its
    ///   last answer has to be confirmed.
    /// - Its article is there: nothing else changes.
    ///
    /// In each case it gets the intent if it has none, and the API key that it was ordered with, if that is named.
    pub fn expect(&mut self, expect: &Expect, now: SystemTime) {
        if self.intent.is_none() {
            self.intent.clone_from(&expect.intent);
        }
        self.key = expect.key.or(self.key);
        match self.state {
            JobState::Arrived | JobState::Collected => {}
            // The same backfill may be repeated, after it stopped or because a person wants to see how far it is.
            JobState::Failed | JobState::Unreadable | JobState::NotFound
                if expect.reason == Reason::Backfill => {}
            JobState::Failed | JobState::Unreadable | JobState::NotFound => {
                self.open(rounded(expect.at), now);
                self.reason = expect.reason.clone();
                (self.cause, self.collected_at, self.unreadable_since) = (None, None, None);
            }
            JobState::Expected | JobState::Polling => {
                let is_refused = matches!(expect.reason, Reason::Refused { .. });
                let is_backfill = expect.reason == Reason::Backfill;
                let leaves_backfill = self.is_backfill() && !is_backfill;
                // An answer that has to be confirmed is confirmed after a while.
                let is_wanted_now = !is_backfill && expect.at <= now && self.unconfirmed.is_none();
                if self.state == JobState::Expected
                    && (is_refused || leaves_backfill || is_wanted_now)
                {
                    self.at = self.at.min(rounded(expect.at));
                } else if is_refused {
                    (self.state, self.at) = (JobState::Expected, rounded(expect.at));
                }
                if leaves_backfill {
                    self.reason = expect.reason.clone();
                } else if is_refused && self.reason != expect.reason {
                    self.cause = Some(expect.reason.to_string());
                }
            }
        }
    }

    /// The job as the ledger shows it, without what only the intent has.
    #[must_use]
    pub fn into_job(self, id: i64, job_id: JobId) -> ExpectedJob {
        let Self {
            state,
            reason,
            intent,
            unproven: _,
            expected_at,
            at,
            polls,
            fence: _,
            key,
            missing,
            pushed_at,
            collected_at,
            unreadable_since,
            unconfirmed,
            cause,
            newer: _,
        } = self;
        ExpectedJob {
            id,
            job_id,
            state,
            reason,
            intent,
            topic: None,
            expected_at,
            at,
            polls,
            key,
            missing,
            pushed_at,
            collected_at,
            unreadable_since,
            unconfirmed,
            cause,
        }
    }

    /// Whether it is bound to an intent for no other reason than a delivery to the URL of that: it is open although its article
    /// is here, until an answer of the service decides.
    #[must_use]
    pub fn is_provisional(&self) -> bool {
        self.unproven.is_some() && self.unproven == self.intent
    }

    /// It was delivered to the URL of this intent, and bound to it by that alone. It is polled at that time, unless the service is
    /// known to have it.
    pub fn doubt(&mut self, intent: &str, at: SystemTime, now: SystemTime) {
        if matches!(self.state, JobState::Failed | JobState::Unreadable) {
            return;
        }
        if !self.state.is_open() {
            self.open(rounded(at), now);
        }
        self.unproven = Some(intent.into());
        self.intent.clone_from(&self.unproven);
    }

    pub(super) fn is_backfill(&self) -> bool {
        self.reason == Reason::Backfill
    }

    /// The job is expected from now on, and polled at that time.
    pub(super) fn open(&mut self, at: SystemTime, now: SystemTime) {
        (self.state, self.at, self.expected_at) = (JobState::Expected, at, now);
        (self.polls, self.missing, self.unconfirmed) = (0, None, None);
    }

    /// The article is not here any more: the job is polled now.
    pub fn reopen(&mut self, now: SystemTime) {
        if self.state.has_article() {
            self.open(now, now);
        }
    }

    pub(super) fn end(&mut self, state: JobState, cause: Option<String>, now: SystemTime) {
        (self.state, self.at, self.cause) = (state, now, cause);
        (self.missing, self.unconfirmed) = (None, None);
    }
}
