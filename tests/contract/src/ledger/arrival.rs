//! Copies of articles, and what becomes of their entries.

use std::time::Duration;

use article_webhook_inbox::{
    EntryKey, JobState, Reason, Source, State,
    store::{Arrival, Expect, Outcome, PollSettled, Recorded},
};

use super::steps::{again, answered, failed, not_found, with_intent};
use crate::{
    Subject, Trial,
    trial::{FIRST, arrival, corrupt, dead, job, key, unhandled, update},
};

/// Removes every entry that was done or unhandled before now, which is one.
pub(super) async fn prune(trial: &Trial<dyn Subject>) {
    assert_eq!(trial.prune_old().await.entries, 1);
}

pub async fn a_delivery_ends_its_job(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    trial.advance(1);
    let arrived = Recorded::Arrived { after: Duration::from_secs(1) };
    assert_eq!(trial.record("job_1", FIRST).await, arrived);
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.at), (JobState::Arrived, trial.now()));
    assert_eq!((shown.pushed_at, shown.collected_at), (Some(trial.now()), None));
    trial.work("job_1", dead()).await;
    assert_eq!(trial.job("job_1").await, shown, "its entry is in hand");
    trial.advance(1_000_000);
    assert!(trial.claim_polls(super::steps::POLLS).await.polls.is_empty());
}

/// A delivery is the article of an order only if the job was expected since then: not since a delivery was refused, and not
/// as one of a backfill.
pub async fn a_delivery_that_ends_no_order_is_stored(mut trial: Trial<dyn Subject>) {
    let refused = Reason::Refused { code: "unavailable".into() };
    for (id, reason) in [("refused", refused), ("backfill", Reason::Backfill)] {
        trial.expect(Expect { reason, ..Expect::job(job(id), trial.now()) }).await;
        trial.advance(1);
        assert_eq!(trial.record(id, FIRST).await, Recorded::Stored);
        assert_eq!(trial.state(id).await, JobState::Arrived);
    }
}

/// A body that the API gave ends its job as collected, by whichever call it is recorded.
pub async fn a_body_of_the_api_ends_its_job_as_collected(trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    let polled = Arrival { source: Source::Api, ..arrival("job_1", FIRST) };
    assert_eq!(trial.store().record(polled).await.unwrap(), Recorded::Stored);
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.pushed_at), (JobState::Collected, None));
    assert_eq!(shown.collected_at, Some(trial.now()));
}

pub async fn a_delivery_of_another_event_is_no_arrival(trial: Trial<dyn Subject>) {
    trial.record_as(update("job_1"), "[]").await;
    trial.expect_now("job_1").await;
    for key in [update("job_1"), EntryKey::failure(job("job_1"))] {
        let copy = Arrival { key, ..with_intent("job_1", "post-17") };
        trial.store().record(copy).await.unwrap();
    }
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.pushed_at, shown.intent), (JobState::Expected, None, None));
}

/// Fencing: a delivery ends the poll that is under way, whose answer is not recorded.
pub async fn a_delivery_ends_a_poll(trial: Trial<dyn Subject>) {
    for (id, outcome) in [
        ("answered", answered("[1]")),
        ("failed", failed("[1]")),
        ("not_found", not_found()),
        ("again", again(1)),
    ] {
        let lease = trial.polling(id).await;
        let arrived = Recorded::Arrived { after: Duration::ZERO };
        assert_eq!(trial.record(id, FIRST).await, arrived, "while it is polled");
        let before = trial.job(id).await;
        assert_eq!(trial.settle_poll(lease, outcome).await, PollSettled::LostLease, "{id}");
        assert_eq!(trial.job(id).await, before, "nothing moves backwards");
        assert_eq!(trial.bodies(id).await.len(), 1);
    }
    assert_eq!(trial.all().await.len(), 4, "no failure is stored");
}

/// A job that was collected stays so, and notes the first push and the first intent.
pub async fn a_push_after_a_collection_is_noted(mut trial: Trial<dyn Subject>) {
    trial.end("job_1", answered(FIRST)).await;
    let collected = trial.now();
    trial.advance(9);
    let pushed = trial.now();
    let copy = with_intent("job_1", "post-17");
    assert_eq!(trial.store().record(copy).await.unwrap(), Recorded::Duplicate);
    assert_eq!(trial.bodies("job_1").await.len(), 1);
    trial.advance(9);
    trial.store().record(with_intent("job_1", "post-18")).await.unwrap();
    trial.record("job_1", "[]").await;
    trial.work("job_1", Outcome::Done).await;
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.at), (JobState::Collected, collected));
    assert_eq!((shown.collected_at, shown.pushed_at), (Some(collected), Some(pushed)));
    assert_eq!(shown.intent.as_deref(), Some("post-17"));
}

/// A copy that is not stored, because the entry is full, changes nothing in the ledger.
pub async fn a_copy_beyond_the_body_limit_changes_nothing(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    trial.expect_now("job_1").await;
    for body in [FIRST, "1", "2", "3"] {
        trial.record("job_1", body).await;
    }
    let before = trial.job("job_1").await;
    trial.advance(1);
    let copy = Arrival { intent: Some("post-17".into()), ..arrival("job_1", "4") };
    assert_eq!(trial.store().record(copy).await.unwrap(), Recorded::BodyLimitReached);
    assert_eq!(trial.job("job_1").await, before);
    assert_eq!(trial.intent("post-17").await.job_id, None);
}

/// An article that comes after the job ended without one is accepted, and handled.
pub async fn an_article_after_the_end_is_accepted(trial: Trial<dyn Subject>) {
    for (id, outcome) in [("job_1", not_found()), ("job_2", failed("{no}"))] {
        trial.end(id, outcome).await;
        assert_eq!(trial.record(id, FIRST).await, Recorded::Stored);
        let shown = trial.job(id).await;
        assert_eq!((shown.state, shown.cause), (JobState::Arrived, None));
        assert_eq!(trial.entry(id).await.state, State::Waiting);
    }
}

/// A delivered body that no worker can read is no arrival: the job is expected again, due now.
pub async fn an_entry_that_cannot_be_read_opens_its_job(mut trial: Trial<dyn Subject>) {
    for (id, outcome) in [("job_1", unhandled(1)), ("job_2", corrupt(1))] {
        trial.expect(Expect::job(job(id), trial.after(600))).await;
        let since = trial.now();
        trial.record(id, FIRST).await;
        trial.advance(9);
        trial.work(id, outcome).await;
        let shown = trial.job(id).await;
        assert_eq!((shown.state, shown.at), (JobState::Expected, trial.now()));
        assert_eq!((shown.expected_at, shown.polls), (since, 0), "it may become overdue");
        trial.poll_with(id, not_found()).await;
    }
}

/// A person who requeues or discards the entry takes it in hand.
pub async fn an_entry_that_is_taken_in_hand_ends_its_job(trial: Trial<dyn Subject>) {
    for id in ["requeued", "discarded"] {
        trial.expect_now(id).await;
        trial.record(id, FIRST).await;
        trial.work(id, unhandled(1)).await;
        assert_eq!(trial.state(id).await, JobState::Expected);
        let is_done = match id {
            "requeued" => trial.requeue(key(id)).await,
            _ => trial.store().discard(vec![key(id)], "never mind".into()).await.unwrap()[0],
        };
        assert!(is_done);
        assert_eq!(trial.state(id).await, JobState::Arrived, "{id}");
        if id == "requeued" {
            trial.leave(id).await;
        }
    }
}

/// Once: a copy that comes after retention removed its entry is a duplicate, whatever its body, and is not stored.
pub async fn a_copy_after_retention_is_a_duplicate(mut trial: Trial<dyn Subject>) {
    for (id, state) in [("pushed", JobState::Arrived), ("polled", JobState::Collected)] {
        match state {
            JobState::Arrived => {
                trial.expect_now(id).await;
                trial.record(id, FIRST).await;
            }
            _ => assert_eq!(trial.end(id, answered(FIRST)).await, PollSettled::Settled(state)),
        }
        trial.work(id, Outcome::Done).await;
        trial.advance(1);
        prune(&trial).await;
        for body in [FIRST, "[]"] {
            assert_eq!(trial.record(id, body).await, Recorded::Duplicate);
        }
        let shown = trial.job(id).await;
        assert_eq!(shown.state, state);
        assert!(shown.pushed_at.is_some(), "a duplicate adds what it knows");
    }
    assert!(trial.all().await.is_empty());
}

/// Retention leaves the job of a delivery that was not expected: it is not polled again, and a copy is a duplicate.
pub async fn a_job_that_was_not_expected_outlives_its_entry(mut trial: Trial<dyn Subject>) {
    trial.put("done", State::Done).await;
    let (entry, bodies) = trial.shown("done").await;
    trial.advance(1);
    prune(&trial).await;
    trial.put("unhandled", State::Unhandled).await;
    trial.advance(1);
    prune(&trial).await;
    assert_eq!(trial.store().job(job("unhandled")).await.unwrap(), None);
    let left = trial.job("done").await;
    assert_eq!((left.state, left.reason.clone()), (JobState::Arrived, Reason::Delivered));
    assert_eq!((left.at, left.pushed_at), (entry.at, Some(bodies[0].received_at)));

    let reason = Reason::Refused { code: "unavailable".into() };
    let expect = Expect { reason, ..Expect::job(job("done"), trial.now()) };
    assert_eq!(trial.expect(expect).await, JobState::Arrived);
    assert!(trial.polled(super::steps::POLLS).await.is_empty());
    assert_eq!(trial.record("done", FIRST).await, Recorded::Duplicate);
    assert_eq!(trial.job("done").await, left);

    trial.store().prune_ledger(trial.now(), 100).await.unwrap();
    assert_eq!(trial.store().job(job("done")).await.unwrap(), None, "no longer than the others");
}
