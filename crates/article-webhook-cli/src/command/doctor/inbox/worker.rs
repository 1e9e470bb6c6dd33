//! Whether a worker keeps up.

use std::time::SystemTime;

use article_webhook::Event;
use article_webhook_inbox::{Entry, EntryKey, Error, Filter, Inbox, State, UNCLAIMED_AFTER};

use crate::{command::doctor::finding::Finding, text::moment};

/// How many entries of a kind are looked at.
const LISTED: u32 = 1000;

/// Whether a worker takes what is due.
pub(super) async fn waiting(inbox: &Inbox) -> Result<Vec<Finding>, Error> {
    let store = inbox.ledger();
    let now = store.now();
    // Then no worker is missing.
    if let Some(since) = store.paused_since().await? {
        let found = format!("no worker gets an entry since {}", moment::since(&since));
        let paused =
            Finding::warn("inbox.paused", found).because("an operator or a salvage paused them");
        return Ok(vec![paused.fix("article-webhook inbox resume INBOX")]);
    }
    let Some(since) = store.due_since().await? else {
        return Ok(vec![Finding::ok("inbox.nothing_due", "nothing waits for a worker")]);
    };
    let age = |since| now.duration_since(since).unwrap_or_default();
    if age(since) < UNCLAIMED_AFTER {
        let found = "the oldest entry has been due for less than a minute";
        return Ok(vec![Finding::ok("inbox.due", found)]);
    }
    let mut live = Live::default();
    // The event is the same for all jobs.
    let failure = EntryKey::failure("job".parse().expect("a constant job id is valid")).event;
    for (state, event) in [
        (State::Waiting, Some(Event::ArticleComplete)),
        (State::Waiting, Some(failure)),
        (State::Leased, None),
    ] {
        live.add(inbox, state, event, now).await?;
    }
    // What is not listed is due as well.
    let is_listed = [live.articles, live.failures].contains(&Some(since));
    let articles = if is_listed { live.articles } else { Some(since) };
    // A worker that works on a failure claims everything.
    let (articles, failures) = match live.is_failure_worked_on {
        true => ([articles, live.failures].into_iter().flatten().min(), None),
        false => (articles, live.failures),
    };
    let mut findings = Vec::new();
    if let Some(since) = articles {
        let found = format!("the oldest entry has been due for {}", moment::span(age(since)));
        findings.push(match live.is_worked_on {
            true => Finding::warn("inbox.slow_worker", found)
                .because("a worker runs, and does not keep up")
                .fix("raise the `concurrency` of the worker, or look at what its handler waits for"),
            false => Finding::fail("inbox.no_worker", format!("{found}, and none is worked on"))
                .because("what is stored is handled by a worker, and none claims it")
                .fix("run `inbox.worker(handler).run(stop)` in the receiver's process, and look into its log for why it ended"),
        });
    }
    if let Some(since) = failures {
        let shown = moment::span(age(since));
        findings.push(
            Finding::warn(
                "inbox.failures_wait",
                format!("the failure of a job has been due for {shown}"),
            )
            .because(
                "failures wait for a worker that has a handler for them, and none works on any",
            )
            .fix(
                "give a handler with `Worker::on_failure` to the worker in the receiver's process",
            ),
        );
    }
    Ok(findings)
}

/// The entries that are waiting or leased.
#[derive(Default)]
struct Live {
    /// Since when the oldest is due that should have been claimed.
    articles: Option<SystemTime>,
    /// The same of failures of jobs: they wait where no worker has a handler for them.
    failures: Option<SystemTime>,
    is_worked_on: bool,
    is_failure_worked_on: bool,
}

impl Live {
    /// Looks at the oldest, and not at all: there may be millions.
    async fn add(
        &mut self,
        inbox: &Inbox,
        state: State,
        event: Option<Event>,
        now: SystemTime,
    ) -> Result<(), Error> {
        let filter = Filter { state: Some(state), event, limit: LISTED, ..Filter::default() };
        let page = inbox.list(filter).await?;
        page.entries.iter().for_each(|entry| self.note(entry, now));
        Ok(())
    }

    fn note(&mut self, entry: &Entry, now: SystemTime) {
        let is_failure = entry.key.is_failure();
        // A lease that has ended is what a worker left that ended.
        if entry.state == State::Leased && entry.at > now {
            self.is_worked_on = true;
            self.is_failure_worked_on |= is_failure;
        } else if now.duration_since(entry.at).is_ok_and(|age| age >= UNCLAIMED_AFTER) {
            let oldest = if is_failure { &mut self.failures } else { &mut self.articles };
            *oldest = Some(oldest.map_or(entry.at, |oldest| oldest.min(entry.at)));
        }
    }
}
