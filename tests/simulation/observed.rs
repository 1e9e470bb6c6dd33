//! What the harness saw by itself: what was sent to the service, what it took and answered, and what the application was
//! given. Nothing here is read from the store under test.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use article_webhook_inbox::{EntryKey, JobState, OVERDUE_AFTER};
use article_webhook_simulator::Push;
use article_webhook_tests::odd_body::OddBody;

use crate::{
    forge::Forgeries,
    node::Process,
    orders::OrderCalls,
    rate::{Rate, TOKEN_VALIDITY},
    world::{DAY, HOUR, Plan, SECOND},
};

/// The pause of `Schedule::webhooks` before the first poll.
const FIRST_ASK: Duration = Duration::from_secs(600);

/// The pause before an answer is confirmed that counts only if a second one says the same.
const CONFIRM_AFTER: Duration = Duration::from_secs(60);

/// The time-out of the API, which is shorter than the lease of a poll.
pub(crate) const API_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) rate: Rate,
    pub(crate) calls: BTreeMap<String, OrderCalls>,
    /// The intents of the jobs that the service took, by job.
    pub(crate) taken: BTreeMap<String, String>,
    /// The jobs of the other account.
    pub(crate) of_other: BTreeSet<String>,
    /// The jobs whose order is stored with its API key.
    pub(crate) keyed: BTreeSet<String>,
    pub(crate) jobs: BTreeMap<String, SeenJob>,
    /// The jobs of the rows of the ledger, and the keys of the entries, by the ids that leases name.
    pub(crate) rows: BTreeMap<i64, Poll>,
    pub(crate) entries: BTreeMap<i64, EntryKey>,
    /// What the service has sent, to be sent once more.
    pub(crate) pushes: Vec<Push>,
    /// Jobs whose deliveries never reach the receiver.
    pub(crate) undelivered: BTreeSet<String>,
    /// The jobs of orders whose answer a process has seen.
    pub(crate) answered_orders: Vec<(String, Process)>,
    /// The jobs that the ledger has noted.
    pub(crate) noted: BTreeSet<String>,
    /// The points at which a process crashed.
    pub(crate) crashes: BTreeSet<String>,
    /// The states of jobs that were listed.
    pub(crate) states: BTreeSet<JobState>,
    /// How many rows of jobs retention removed.
    pub(crate) pruned: u64,
    /// The jobs whose rows it removed.
    pub(crate) pruned_jobs: BTreeSet<String>,
    /// How many bodies of articles were sent while things went wrong, and what was odd about them.
    pub(crate) bodies: BTreeMap<(Route, Option<OddBody>), u64>,
    pub(crate) forgeries: Forgeries,
}

/// The last poll that a row of the ledger was claimed for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poll {
    pub(crate) job: String,
    pub(crate) fence: i64,
    pub(crate) claimed: Duration,
    pub(crate) ends: Duration,
    /// Its outcome is stored.
    pub(crate) settled: bool,
}

#[derive(Debug, Default)]
pub(crate) struct SeenJob {
    /// How often it was polled since it was last opened.
    polls: u32,
    /// When it may be polled again.
    not_before: Duration,
    /// Since when its article is stored, unless that turned out to be unreadable.
    in_hand: Option<Duration>,
    /// It was delivered to the URL of an order that has another job, and is polled until it is known whether it is that of the order.
    pub(crate) is_candidate: bool,
    /// A push was answered with success.
    pub(crate) accepted: bool,
    /// One to a capability URL.
    pub(crate) accepted_with_intent: bool,
    /// The article was handled, and the completion is stored.
    pub(crate) done: bool,
    pub(crate) failure_done: bool,
    pub(crate) erased: bool,
    /// Retention was allowed to remove its row of the ledger, and has.
    row_pruned: bool,
    /// What is odd about each copy of its article, whether it is delivered or polled.
    pub(crate) odd: Option<OddBody>,
    /// Its body was refused when nothing failed.
    pub(crate) must_be_kept: bool,
}

/// How a body reaches the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Route {
    Pushed,
    Polled,
}

impl Observed {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { rate: Rate::new(plan), ..Self::default() }
    }

    pub(crate) fn job(&mut self, job: &str) -> &mut SeenJob {
        self.jobs.entry(job.to_owned()).or_default()
    }

    /// What is odd about each copy of a job's article.
    pub(crate) fn odd(&self, job: &str) -> Option<OddBody> {
        self.jobs.get(job)?.odd
    }

    /// Whether each answer of the API names the job, and none can be decoded: it ends as unreadable.
    pub(crate) fn is_undecodable(&self, job: &str) -> bool {
        use OddBody::{FailedArticle, KeyTwice, NotAnArticle};
        matches!(self.odd(job), Some(NotAnArticle | KeyTwice | FailedArticle))
    }

    /// The same, and each answer is in quarantine.
    pub(crate) fn is_unreadable(&self, job: &str) -> bool {
        self.is_undecodable(job) && self.odd(job).is_some_and(OddBody::is_quarantined)
    }

    /// Whether nothing that comes about the job can be understood: it is polled for ever, and shown in quarantine.
    pub(crate) fn is_never_understood(&self, job: &str) -> bool {
        !self.is_undecodable(job) && self.odd(job).is_some_and(OddBody::is_quarantined)
    }

    /// A poll is sent.
    pub(crate) fn poll_sent(
        &mut self,
        process: &Process,
        id: &str,
        now: Duration,
    ) -> Result<(), String> {
        self.rate.poll_sent(process, now)?;
        let polls = self.rows.values().filter(|poll| poll.job == id);
        let claimed = polls.map(|poll| poll.claimed).max().unwrap_or_default();
        if now > claimed + TOKEN_VALIDITY + SECOND / 100 {
            let age = now - claimed;
            return Err(format!("{id} is polled with a token that is {age:?} old"));
        }
        let job = self.job(id);
        if now < job.not_before {
            let early = job.not_before - now;
            return Err(format!("{id} is polled {early:?} earlier than the schedule says"));
        }
        if !job.is_candidate && job.in_hand.is_some_and(|since| now > since + TOKEN_VALIDITY) {
            return Err(format!("{id} is polled, and its article is in the inbox"));
        }
        job.polls += 1;
        // The lease is longer than the call.
        job.not_before = now + API_TIMEOUT;
        Ok(())
    }

    /// A poll without an article was stored: the next comes after the pause of the schedule.
    pub(crate) fn poll_ended(&mut self, id: &str, now: Duration) {
        let job = self.job(id);
        let exponent = i32::try_from(job.polls).unwrap_or(i32::MAX);
        let pause = FIRST_ASK.as_secs_f64() * 1.5_f64.powi(exponent);
        let pause = pause.min(HOUR.as_secs_f64()) / 2.0;
        job.not_before = now + Duration::from_secs_f64(pause) - SECOND / 1000;
    }

    /// A poll was stored whose answer has to be confirmed: the next may come after a minute.
    pub(crate) fn poll_to_be_confirmed(&mut self, id: &str, now: Duration) {
        self.job(id).not_before = now + CONFIRM_AFTER - SECOND / 1000;
    }

    /// The job is expected from now on, and polled after this pause.
    pub(crate) fn opened(&mut self, id: &str, now: Duration, pause: Duration) {
        let job = self.job(id);
        let not_before = (now + pause).saturating_sub(SECOND / 1000);
        (job.polls, job.not_before, job.in_hand) = (0, not_before, None);
    }

    /// A reason of its own brings the poll of an open job forward.
    pub(crate) fn brought_forward(&mut self, id: &str, now: Duration, pause: Duration) {
        let job = self.job(id);
        job.not_before = job.not_before.min((now + pause).saturating_sub(SECOND / 1000));
    }

    /// The job waits for so long until it is polled again, which is so often now. It is expected for so long.
    pub(crate) fn waits(
        id: &str,
        wait: Duration,
        polls: u32,
        expected_for: Duration,
    ) -> Result<(), String> {
        let exponent = i32::try_from(polls).unwrap_or(i32::MAX);
        let pause = (FIRST_ASK.as_secs_f64() * 1.5_f64.powi(exponent)).min(HOUR.as_secs_f64());
        let longest =
            if expected_for < OVERDUE_AFTER { Duration::from_secs_f64(pause) } else { DAY };
        match wait <= longest {
            true => Ok(()),
            false => Err(format!("{id} waits for {wait:?}, and the schedule says {longest:?}")),
        }
    }

    /// The job may be polled at once, or was opened again.
    pub(crate) fn may_be_polled(&mut self, id: &str) {
        let job = self.job(id);
        (job.polls, job.not_before, job.in_hand) = (0, Duration::ZERO, None);
    }

    /// A poll was given back before it was sent.
    pub(crate) fn poll_released(&mut self, id: &str) {
        self.job(id).not_before = Duration::ZERO;
    }

    /// Its article is stored, and it may be forged: the API is polled about it.
    pub(crate) fn in_doubt(&mut self, id: &str) {
        self.may_be_polled(id);
        self.forgeries.stored(id);
    }

    /// Its article is stored, and is to be handled.
    pub(crate) fn in_hand(&mut self, id: &str, now: Duration) {
        self.job(id).in_hand.get_or_insert(now);
    }

    pub(crate) fn erased(&mut self, id: &str) {
        self.keyed.remove(id);
        let odd = self.odd(id);
        *self.job(id) = SeenJob { erased: true, odd, ..SeenJob::default() };
    }

    /// The store has neither an entry nor a row of the job. If retention was allowed to remove the row of its article, it
    /// begins again. What was accepted must still come.
    pub(crate) fn left_no_trace(&mut self, id: &str) {
        self.keyed.remove(id);
        let odd = self.odd(id);
        let job = self.job(id);
        if job.row_pruned {
            *job = SeenJob { erased: job.erased, odd, ..SeenJob::default() };
        }
    }

    /// Retention removed the row of the job, which had ended.
    pub(crate) fn row_pruned(&mut self, id: &str) {
        self.job(id).row_pruned = true;
        self.pruned_jobs.insert(id.to_owned());
        self.pruned += 1;
    }

    pub(crate) fn expected(&mut self, id: &str) {
        self.is_back(id);
        self.ordered(id);
    }

    /// The answer to an order was stored, which does not bring back what was erased.
    pub(crate) fn ordered(&mut self, id: &str) {
        self.noted.insert(id.to_owned());
    }

    /// A copy, or a person, brings a job back that was erased.
    pub(crate) fn is_back(&mut self, id: &str) {
        self.job(id).erased = false;
    }

    /// A handler begins.
    pub(crate) fn handling(&mut self, id: &str) -> Result<(), String> {
        match self.job(id).done {
            true => Err(format!("{id} is handled again after its completion was stored")),
            false => Ok(()),
        }
    }
}
