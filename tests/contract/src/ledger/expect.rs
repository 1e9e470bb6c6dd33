//! Jobs that are expected.

use std::time::Duration;

use article_webhook_inbox::{
    Digest, IntentState, JobState, Reason, Source, State,
    store::{Arrival, Expect, JobRow, Outcome, PollOutcome, PollSettled},
};

use super::steps::{POLLS, WITHIN, again, failed, not_found};
use crate::{
    Subject, Trial,
    trial::{FIRST, STATES, arrival, job},
};

fn refused() -> Reason {
    Reason::Refused { code: "malformed_json".into() }
}

pub async fn a_new_job_is_expected(trial: Trial<dyn Subject>) {
    for (id, reason) in [
        ("ordered", Reason::Ordered),
        ("expected", Reason::OrderedElsewhere),
        ("backfill", Reason::Backfill),
        ("refused", refused()),
    ] {
        let intent = Some("post-17".into());
        let key = (id == "ordered").then_some(u64::MAX);
        let expect = Expect { job_id: job(id), reason, intent, at: trial.after(600), key };
        assert_eq!(trial.expect(expect.clone()).await, JobState::Expected);
        let shown = trial.job(id).await;
        let mut expected = JobRow::new(&expect, None, trial.now()).into_job(shown.id, job(id));
        expected.at = expect.at;
        expected.key = key;
        assert_eq!(shown, expected);
    }
    assert_eq!(trial.store().job(job("other")).await.unwrap(), None);
}

pub async fn several_jobs_are_expected_at_once(trial: Trial<dyn Subject>) {
    trial.record("job_2", FIRST).await;
    let expect = |id| Expect::job(job(id), trial.now());
    let given = vec![expect("job_1"), expect("job_2"), expect("job_1")];
    let expected = [JobState::Expected, JobState::Arrived, JobState::Expected];
    assert_eq!(trial.store().expect(given).await.unwrap(), expected);
    assert!(trial.job("job_1").await.id < trial.job("job_2").await.id);
}

/// A refused delivery to the URL of an order names its intent: an order whose answer was lost is known by it.
pub async fn a_job_that_names_its_intent_resolves_it(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    trial.advance_by(WITHIN);
    for id in ["job_1", "job_2"] {
        let (reason, intent) = (refused(), Some("post-17".into()));
        trial.expect(Expect { reason, intent, ..Expect::job(job(id), trial.after(600)) }).await;
        let known = trial.intent("post-17").await;
        assert_eq!((known.state, known.job_id), (IntentState::Ordered, Some(job("job_1"))), "{id}");
    }
}

/// Known jobs: the delivery may come before the job is expected. An entry that no worker can read is no arrival.
pub async fn a_job_whose_article_came_before_has_arrived(mut trial: Trial<dyn Subject>) {
    for state in STATES {
        let id = state.as_str();
        trial.put(id, state).await;
        let came = trial.now();
        trial.advance(9);
        let now = trial.expect(Expect::job(job(id), trial.after(600))).await;
        let shown = trial.job(id).await;
        let (expected, at) = match state {
            State::Unhandled | State::Corrupt => (JobState::Expected, trial.after(600)),
            _ => (JobState::Arrived, trial.now()),
        };
        assert_eq!((now, shown.state, shown.at), (expected, expected, at), "{state}");
        assert_eq!(shown.pushed_at, Some(came), "{state}");
    }
}

/// A job is collected if the API gave all bodies of its entry.
pub async fn a_job_whose_article_the_api_gave_before_was_collected(mut trial: Trial<dyn Subject>) {
    let polled = |id, body| Arrival { source: Source::Api, ..arrival(id, body) };
    trial.store().record(polled("job_1", FIRST)).await.unwrap();
    let came = trial.now();
    trial.advance(9);
    trial.store().record(polled("job_1", "[]")).await.unwrap();
    assert_eq!(trial.expect(Expect::job(job("job_1"), trial.now())).await, JobState::Collected);
    let shown = trial.job("job_1").await;
    assert_eq!((shown.collected_at, shown.pushed_at), (Some(came), None));

    trial.store().record(polled("job_2", FIRST)).await.unwrap();
    trial.record("job_2", "[]").await;
    assert_eq!(trial.expect(Expect::job(job("job_2"), trial.now())).await, JobState::Arrived);
}

/// The application may expect it again at each start. A person polls it now.
pub async fn an_open_job_is_polled_now_if_that_is_wanted(trial: Trial<dyn Subject>) {
    let expect = |reason, at| Expect { reason, ..Expect::job(job("job_1"), at) };
    trial.expect(expect(Reason::Ordered, trial.after(600))).await;
    let first = trial.job("job_1").await;
    for (reason, seconds, expected) in [
        (Reason::OrderedElsewhere, 400, 600),
        (Reason::Ordered, 1, 600),
        (Reason::Backfill, 0, 600),
        (Reason::OrderedElsewhere, 0, 0),
    ] {
        trial.expect(expect(reason, trial.after(seconds))).await;
        let shown = trial.job("job_1").await;
        assert_eq!(shown.at, trial.after(expected));
        assert_eq!((shown.reason, shown.expected_at), (Reason::Ordered, first.expected_at));
    }
    let lease = trial.poll("job_1").await;
    let before = trial.job("job_1").await;
    for reason in [Reason::Ordered, Reason::OrderedElsewhere, Reason::Backfill] {
        trial.expect(expect(reason, trial.now())).await;
        assert_eq!(trial.job("job_1").await, before, "it is being polled");
    }
    // A draft is confirmed a minute later, and no earlier.
    let (after, statement) = (Duration::from_secs(60), Digest::of(b"a draft"));
    let draft = PollOutcome::Unconfirmed { after, cause: "it is a draft".into(), statement };
    trial.settle_poll(lease, draft).await;
    trial.expect(expect(Reason::OrderedElsewhere, trial.now())).await;
    assert_eq!(trial.job("job_1").await.at, trial.after(60));
}

/// A refused delivery shows that the article is there. Its code is shown.
pub async fn a_refused_delivery_brings_a_poll_forward(trial: Trial<dyn Subject>) {
    trial.expect(Expect::job(job("job_1"), trial.after(600))).await;
    for (seconds, expected) in [(900, 600), (400, 400), (500, 400)] {
        let at = trial.after(seconds);
        trial.expect(Expect { reason: refused(), ..Expect::job(job("job_1"), at) }).await;
        let shown = trial.job("job_1").await;
        assert_eq!((shown.at, shown.reason), (trial.after(expected), Reason::OrderedElsewhere));
        assert_eq!(shown.cause.as_deref(), Some("refused: malformed_json"));
    }
}

/// A delivery that is refused while a poll is under way may be newer than its answer: the job is polled again, and the
/// answer is of a lost lease.
pub async fn a_refused_delivery_ends_a_poll(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    let lease = trial.poll("job_1").await;
    let at = trial.after(5);
    trial.expect(Expect { reason: refused(), ..Expect::job(job("job_1"), at) }).await;
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.at), (JobState::Expected, at));
    assert_eq!(trial.settle_poll(lease, again(3600)).await, PollSettled::LostLease);
    assert!(trial.polled(POLLS).await.is_empty());
    trial.advance(5);
    assert_eq!(trial.polled(POLLS).await, ["job_1"]);
}

/// Any other reason takes the place of `backfill`, and `backfill` of none.
pub async fn a_job_leaves_a_backfill(trial: Trial<dyn Subject>) {
    let expect =
        |reason, seconds| Expect { reason, ..Expect::job(job("job_1"), trial.after(seconds)) };
    for (reason, seconds, expected) in [
        (Reason::Backfill, 900, (Reason::Backfill, 900)),
        (Reason::Backfill, 100, (Reason::Backfill, 900)),
        (Reason::OrderedElsewhere, 600, (Reason::OrderedElsewhere, 600)),
        (Reason::Backfill, 100, (Reason::OrderedElsewhere, 600)),
    ] {
        trial.expect(expect(reason, seconds)).await;
        let shown = trial.job("job_1").await;
        assert_eq!((shown.reason, shown.at), (expected.0, trial.after(expected.1)));
    }
}

/// A job that ended without an article is opened again, as if it were new. A backfill does not open it.
pub async fn an_end_without_an_article_is_opened_again(mut trial: Trial<dyn Subject>) {
    for (id, outcome, end, cause) in [
        ("job_1", not_found(), JobState::NotFound, "job_not_found"),
        ("job_2", failed("{failed}"), JobState::Failed, "generation_failed"),
    ] {
        trial.end(id, again(0)).await;
        trial.poll_with(id, outcome).await;
        let ended = trial.job(id).await;
        assert_eq!((ended.state, ended.polls, ended.cause.as_deref()), (end, 2, Some(cause)));
        trial.advance(100);
        let backfill = Expect { reason: Reason::Backfill, ..Expect::job(job(id), trial.now()) };
        assert_eq!(trial.expect(backfill).await, end, "the same ids again change nothing");
        assert_eq!(trial.job(id).await, ended);

        let expect = Expect { reason: refused(), ..Expect::job(job(id), trial.after(400)) };
        assert_eq!(trial.expect(expect).await, JobState::Expected);
        let mut opened = ended;
        opened.state = JobState::Expected;
        opened.reason = refused();
        opened.expected_at = trial.now();
        opened.at = trial.after(400);
        opened.polls = 0;
        opened.cause = None;
        assert_eq!(trial.job(id).await, opened);
    }
}

pub async fn a_job_whose_article_came_is_not_opened(mut trial: Trial<dyn Subject>) {
    trial.end("collected", super::steps::answered(FIRST)).await;
    trial.work("collected", Outcome::Done).await;
    trial.expect_now("arrived").await;
    trial.record("arrived", FIRST).await;
    trial.advance(1);
    for id in ["collected", "arrived"] {
        let before = trial.job(id).await;
        for reason in [Reason::OrderedElsewhere, Reason::Backfill, refused()] {
            trial.expect(Expect { reason, ..Expect::job(job(id), trial.now()) }).await;
            assert_eq!(trial.job(id).await, before);
        }
    }
}

/// A job gets the intent of a later order if it has none.
pub async fn the_first_intent_of_a_job_stays(trial: Trial<dyn Subject>) {
    for (intent, expected) in
        [(None, None), (Some("post-17"), Some("post-17")), (Some("post-18"), Some("post-17"))]
    {
        let intent = intent.map(Into::into);
        trial.expect(Expect { intent, ..Expect::job(job("job_1"), trial.now()) }).await;
        assert_eq!(trial.job("job_1").await.intent.as_deref(), expected);
    }
}
