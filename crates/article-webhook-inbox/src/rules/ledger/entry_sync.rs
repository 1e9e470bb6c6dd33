use std::time::{Duration, SystemTime};

use article_webhook::JobId;

use super::{ArticleEntry, JobRow, article_entry::is_rejected, poll::REJECTED};
use crate::{
    Source, State,
    call::{Expect, JobState, OVERDUE_AFTER, Reason, Recorded},
    timestamp::{later, rounded},
};

/// When a job is polled again if the body that the API gave cannot be read. To poll at once would most likely bring the
/// same body.
const PAUSE_AFTER_UNREADABLE_BODY: Duration = Duration::from_secs(3600);

/// The cause of a job whose article the API gave, and which was damaged here.
const DAMAGED: &str = "the article that the API gave was damaged in the store";

/// The cause of an unreadable job.
const UNREADABLE: &str = "for 72 hours the API has given no body that can be read";

impl JobRow {
    /// A copy of the article was recorded, or recognised as a duplicate. This notes what the copy knows.
    pub fn note_copy(&mut self, source: Source, intent: Option<&str>, now: SystemTime) {
        if source == Source::Webhook {
            self.pushed_at.get_or_insert(now);
        }
        if self.intent.is_none() {
            self.intent = intent.map(Into::into);
        }
    }

    /// The article's entry is in this state now. `source` is how the copy came that brought it there.
    ///
    /// An entry that is unhandled or corrupt is no article: a job that had ended with it is expected again, due now, or
    /// after an hour if the API gave the body. It is expected since it was before, so that it becomes overdue. If the API has
    /// given nothing but unhandled bodies for 72 hours, the job ends as unreadable: an outage of hours must not end it. A
    /// corrupt entry says nothing about what the API gives, so that no number of them ends a job. Any other entry is the
    /// article: it ends an open job and the poll that is under way, and also a job that failed, is unreadable or was not
    /// found. It does not end one that is [in doubt](Self::unproven): an answer of the API decides to which order it belongs.
    pub fn sync_with_entry(&mut self, entry: State, source: Source, now: SystemTime) {
        match (is_rejected(entry), self.state) {
            (true, JobState::Collected) if entry == State::Corrupt => {
                self.unreadable_since = None;
                self.wait(PAUSE_AFTER_UNREADABLE_BODY, Some(DAMAGED.to_owned()), now);
            }
            (true, JobState::Collected) => self.reject_answer(now),
            (true, JobState::Arrived) => self.open(later(now, Duration::ZERO), self.expected_at),
            (false, state) if !state.has_article() && self.unproven.is_none() => {
                let state = match source {
                    Source::Webhook => JobState::Arrived,
                    Source::Api => JobState::Collected,
                };
                if state == JobState::Collected {
                    self.collected_at = Some(now);
                }
                self.end(state, None, now);
            }
            _ => {}
        }
    }

    /// No worker can read the body that the API gave last.
    pub(super) fn reject_answer(&mut self, now: SystemTime) {
        let given_at = self.collected_at.unwrap_or(now);
        self.reject(given_at, PAUSE_AFTER_UNREADABLE_BODY, REJECTED, now);
    }

    /// The body that the API gave at that time cannot be read, for this cause.
    pub(super) fn reject(
        &mut self,
        given_at: SystemTime,
        pause: Duration,
        cause: &str,
        now: SystemTime,
    ) {
        let since = *self.unreadable_since.get_or_insert(given_at);
        if given_at.duration_since(since).unwrap_or_default() >= OVERDUE_AFTER {
            self.end(JobState::Unreadable, Some(UNREADABLE.to_owned()), now);
        } else {
            self.missing = None;
            self.wait(pause, Some(cause.to_owned()), now);
        }
    }

    /// What a store returns for a recorded copy that changed the row: how long the order took, if the copy is its article.
    /// `before` is the row without the copy.
    #[must_use]
    pub fn recorded(&self, recorded: Recorded, before: &Self, now: SystemTime) -> Recorded {
        let has_arrived = before.state.is_open() && self.state == JobState::Arrived;
        if recorded != Recorded::Stored || !has_arrived || !self.reason.is_order() {
            return recorded;
        }
        Recorded::Arrived { after: now.duration_since(self.expected_at).unwrap_or_default() }
    }

    /// The row that retention leaves when it removes the entry of a job's article, at which the work ended at that time. The
    /// ledger does not have the job. `None` if no body of the entry can be read: then nothing is known of the article.
    #[must_use]
    pub fn of_pruned(job_id: &JobId, entry: &ArticleEntry, at: SystemTime) -> Option<Self> {
        let expect = Expect { reason: Reason::Delivered, ..Expect::job(job_id.clone(), at) };
        let row = Self::new(&expect, Some(entry), at);
        row.state.has_article().then_some(row)
    }

    /// Whether a copy of the article whose entry is gone is a duplicate: the article was here, and retention removed it.
    #[must_use]
    pub fn is_tombstone(&self) -> bool {
        self.state.has_article()
    }

    /// Whether retention removes the job: it ended before that time.
    #[must_use]
    pub fn is_pruned(&self, before: SystemTime) -> bool {
        !self.state.is_open() && self.at < rounded(before)
    }
}
