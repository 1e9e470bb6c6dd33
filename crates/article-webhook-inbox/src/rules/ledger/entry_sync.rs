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
                (self.returned, self.unreadable_since) = (None, None);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Digest,
        call::{ApiAnswer, PollOutcome},
    };

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;
    const KEY: u64 = 17;

    fn after(seconds: u64) -> SystemTime {
        NOW + Duration::from_secs(seconds)
    }

    fn job(state: JobState) -> JobRow {
        let expect = Expect::job("job_1".parse().unwrap(), after(600));
        JobRow { state, polls: 2, ..JobRow::new(&expect, None, NOW) }
    }

    #[test]
    fn an_entry_ends_every_job_that_has_no_article() {
        for &state in JobState::ALL {
            for (source, end) in
                [(Source::Webhook, JobState::Arrived), (Source::Api, JobState::Collected)]
            {
                for entry in [State::Waiting, State::Leased, State::Done, State::Dead] {
                    let before = job(state);
                    let mut row = before.clone();
                    row.sync_with_entry(entry, source, after(9));
                    if state.has_article() {
                        assert_eq!(row, before, "nothing moves backwards");
                    } else {
                        assert_eq!((row.state, row.at), (end, after(9)), "{state} {entry}");
                        assert_eq!(row.collected_at.is_some(), end == JobState::Collected);
                    }
                }
            }
        }
    }

    #[test]
    fn an_entry_that_cannot_be_read_opens_its_job() {
        for entry in [State::Unhandled, State::Corrupt] {
            for &state in JobState::ALL {
                let mut row = job(state);
                row.sync_with_entry(entry, Source::Webhook, after(9));
                let expected = match state {
                    JobState::Arrived => (JobState::Expected, after(9), 0),
                    JobState::Collected => (JobState::Expected, after(3609), 2),
                    other => (other, after(600), 2),
                };
                assert_eq!((row.state, row.at, row.polls), expected, "{entry} {state}");
                assert_eq!(row.expected_at, NOW, "it may become overdue");
            }
        }
    }

    #[test]
    fn only_bodies_of_72_hours_that_cannot_be_read_end_a_job() {
        for before in [None, Some(State::Unhandled)] {
            let (mut row, mut entry) = (job(JobState::Expected), before);
            let (first, hour) = (row.at, Duration::from_secs(3600));
            for (body, at) in [("1", first), ("2", first + 70 * hour), ("3", first + OVERDUE_AFTER)]
            {
                let digest = Digest::of(body.as_bytes());
                let lease = row.poll(7, hour, at);
                assert!(row.records_answer(digest, entry), "it may be readable");
                let answer = ApiAnswer { target: "api".into(), digest, bytes: body.into() };
                row.settle(lease, &PollOutcome::Answered(answer), KEY, Some(State::Waiting), at);
                assert_eq!(row.state, JobState::Collected);
                // However long the worker takes.
                row.sync_with_entry(State::Unhandled, Source::Webhook, at + hour / 2);
                let expected = if body == "3" { JobState::Unreadable } else { JobState::Expected };
                assert_eq!((row.state, row.expected_at), (expected, NOW), "{before:?}");
                assert_eq!(row.unreadable_since, Some(first));
                entry = Some(State::Unhandled);
            }
            let again = Expect::job("job_1".parse().unwrap(), after(900_000));
            row.expect(&again, after(900_000));
            let new = JobRow::new(&again, None, after(900_000));
            assert_eq!(row, JobRow { fence: row.fence, ..new });
        }
    }

    /// The API gives the article as often as it is damaged, at whatever time, and each time it is taken.
    #[test]
    fn an_article_that_is_damaged_again_is_collected_again() {
        let (mut row, digest) = (job(JobState::Expected), Digest::of(b"{}"));
        let mut entry = State::Unhandled;
        for hours in [0, 1, 100, 200] {
            let at = row.at + Duration::from_secs(hours * 3600);
            let lease = row.poll(7, Duration::from_secs(60), at);
            assert!(row.records_answer(digest, Some(entry)), "after {hours} hours");
            let answer = ApiAnswer { target: "api".into(), digest, bytes: "{}".into() };
            row.settle(lease, &PollOutcome::Answered(answer), KEY, Some(State::Waiting), at);
            assert_eq!(row.state, JobState::Collected);
            entry = State::Corrupt;
            row.sync_with_entry(entry, Source::Api, at + OVERDUE_AFTER);
            assert_eq!(
                (row.state, row.at),
                (JobState::Expected, at + OVERDUE_AFTER + PAUSE_AFTER_UNREADABLE_BODY)
            );
            assert_eq!((row.returned, row.unreadable_since), (None, None));
        }
        assert_eq!(row.expected_at, NOW, "it is overdue");
    }

    #[test]
    fn a_copy_adds_what_it_knows() {
        let mut row = job(JobState::Collected);
        row.note_copy(Source::Api, None, after(1));
        assert_eq!((row.pushed_at, row.intent.as_deref()), (None, None));
        row.note_copy(Source::Webhook, Some("post-17"), after(2));
        row.note_copy(Source::Webhook, Some("post-18"), after(3));
        assert_eq!((row.pushed_at, row.intent.as_deref()), (Some(after(2)), Some("post-17")));
        assert_eq!(row.state, JobState::Collected);
    }

    #[test]
    fn the_copy_that_ends_an_order_says_how_long_it_took() {
        let refused = || Reason::Refused { code: "unavailable".into() };
        let arrived = Recorded::Arrived { after: Duration::from_secs(9) };
        for (state, reason, source, recorded, expected) in [
            (JobState::Expected, Reason::Ordered, Source::Webhook, Recorded::Stored, arrived),
            (
                JobState::Polling,
                Reason::OrderedElsewhere,
                Source::Webhook,
                Recorded::Stored,
                arrived,
            ),
            (JobState::Expected, refused(), Source::Webhook, Recorded::Stored, Recorded::Stored),
            (
                JobState::Expected,
                Reason::Backfill,
                Source::Webhook,
                Recorded::Stored,
                Recorded::Stored,
            ),
            (
                JobState::Failed,
                Reason::Ordered,
                Source::Webhook,
                Recorded::Stored,
                Recorded::Stored,
            ),
            (
                JobState::Collected,
                Reason::Ordered,
                Source::Webhook,
                Recorded::Stored,
                Recorded::Stored,
            ),
            (JobState::Expected, Reason::Ordered, Source::Api, Recorded::Stored, Recorded::Stored),
            (
                JobState::Expected,
                Reason::Ordered,
                Source::Webhook,
                Recorded::Duplicate,
                Recorded::Duplicate,
            ),
        ] {
            let before = JobRow { reason, ..job(state) };
            let mut row = before.clone();
            row.sync_with_entry(State::Waiting, source, after(9));
            let result = row.recorded(recorded, &before, after(9));
            assert_eq!(result, expected, "{state} {source} {}", before.reason);
        }
    }

    #[test]
    fn retention_leaves_the_job_of_an_article_that_could_be_read() {
        let job_id = "job_1".parse().unwrap();
        for &state in State::ALL {
            let entry =
                ArticleEntry { state, pushed_at: Some(after(1)), collected_at: Some(after(2)) };
            let row = JobRow::of_pruned(&job_id, &entry, after(9));
            assert_eq!(row.is_none(), is_rejected(state), "{state}");
            let Some(row) = row else { continue };
            assert!(row.is_tombstone(), "{state}");
            assert_eq!(
                (row.state, row.at, row.reason),
                (JobState::Arrived, after(9), Reason::Delivered)
            );
            assert_eq!((row.pushed_at, row.collected_at), (Some(after(1)), Some(after(2))));
        }
    }

    #[test]
    fn only_a_job_that_ended_is_pruned() {
        for &state in JobState::ALL {
            assert_eq!(job(state).is_pruned(after(601)), !state.is_open(), "{state}");
            assert!(!job(state).is_pruned(after(600)), "{state}");
            assert_eq!(job(state).is_tombstone(), state.has_article(), "{state}");
        }
    }
}
