//! Orders and their intents.

use std::time::Duration;

use article_webhook_inbox::{
    Intent, IntentState, JobFilter, JobState, Reason, Topic,
    store::{Arrival, BucketEvent, Expect, Intended, IntentLease, IntentRow},
};
use tokio::task::JoinSet;

use super::steps::{KEY, WITHIN, with_intent};
use crate::{
    Subject, Trial,
    trial::{changed, job},
};

async fn known(trial: &Trial<dyn Subject>, name: &str) -> Intent {
    match trial.store().intend(name, WITHIN, KEY, None).await.unwrap() {
        Intended::Known(intent) => intent,
        other => panic!("{name} was stored before: {other:?}"),
    }
}

async fn order_again(trial: &Trial<dyn Subject>, name: &str) -> Option<IntentLease> {
    match trial.store().order_again(name, WITHIN, KEY, None).await.unwrap() {
        Intended::Begun(lease) => Some(lease),
        Intended::Known(_) => None,
        paused @ Intended::Paused(_) => panic!("{paused:?}"),
    }
}

/// After a salvage with gaps: until a person has checked the orders, or orders this one again.
pub async fn an_intent_that_may_be_missing_is_not_ordered_by_itself(mut trial: Trial<dyn Subject>) {
    trial.intended("post-1").await;
    trial.store().note_gaps().await.unwrap();
    let since = Some(trial.now());
    trial.advance(1);
    trial.store().note_gaps().await.unwrap();
    assert_eq!(trial.store().ledger_counts().await.unwrap().gaps_since, since);
    assert_eq!(known(&trial, "post-1").await.state, IntentState::Ordering, "it is not missing");
    let missing = known(&trial, "post-2").await;
    assert_eq!((missing.state, &*missing.name), (IntentState::Unknown, "post-2"));
    assert_eq!(trial.store().intent("post-2").await.unwrap(), None, "nothing is stored");

    let again = order_again(&trial, "post-2").await.unwrap();
    assert_eq!(known(&trial, "post-2").await.state, IntentState::Ordering);
    assert!(trial.store().not_ordered(again).await.unwrap().is_noted);
    assert_eq!(known(&trial, "post-2").await.state, IntentState::Unknown);

    // The person finds that the service has the order.
    assert!(trial.store().abandon("post-3").await.unwrap());
    assert!(trial.store().orders_checked().await.unwrap());
    assert!(!trial.store().orders_checked().await.unwrap());
    assert_eq!(known(&trial, "post-3").await.state, IntentState::Abandoned);
    assert!(!trial.store().abandon("post-4").await.unwrap(), "without gaps it was not ordered");
    assert_eq!(trial.store().ledger_counts().await.unwrap().gaps_since, None);
    trial.intended("post-2").await;
}

/// Brings a new intent into that state.
async fn put(trial: &mut Trial<dyn Subject>, name: &str, state: IntentState) -> IntentLease {
    let lease = trial.intended(name).await;
    match state {
        IntentState::Unknown => trial.advance_by(WITHIN),
        IntentState::Ordered => {
            trial.store().ordered(name, job(name), trial.after(600), KEY).await.unwrap();
        }
        IntentState::Abandoned => {
            trial.advance_by(WITHIN);
            assert!(trial.store().abandon(name).await.unwrap());
        }
        _ => {}
    }
    assert_eq!(trial.intent(name).await.state, state);
    lease
}

/// What an order is about is kept with its intent, shown with its job, and erased with that.
pub async fn the_topic_is_that_of_the_last_order(mut trial: Trial<dyn Subject>) {
    let (shoes, knees) = (Topic::of("Running shoes"), Topic::of("Knees"));
    let begun = trial.store().intend("post-17", WITHIN, KEY, shoes.clone()).await.unwrap();
    assert!(matches!(begun, Intended::Begun(_)));
    let again = trial.store().intend("post-17", WITHIN, KEY, knees.clone()).await.unwrap();
    assert!(matches!(again, Intended::Known(Intent { topic, .. }) if topic == shoes));
    for (ordered, kept) in [(None, &shoes), (knees.clone(), &knees)] {
        trial.advance_by(WITHIN);
        let again = trial.store().order_again("post-17", WITHIN, KEY, ordered).await.unwrap();
        assert!(matches!(again, Intended::Begun(_)));
        assert_eq!(trial.intent("post-17").await.topic, *kept);
    }
    trial.store().ordered("post-17", job("job_1"), trial.after(600), KEY).await.unwrap();
    trial.expect_now("job_2").await;
    let listed = trial.store().jobs(JobFilter::default()).await.unwrap().items;
    let topics: Vec<_> = listed.iter().map(|job| job.topic.clone()).collect();
    assert_eq!(topics, [knees.clone(), None]);
    assert_eq!(trial.job("job_1").await.topic, knees);
    trial.store().erase(vec![job("job_2")]).await.unwrap();
    assert_eq!(trial.intent("post-17").await.topic, knees, "it is of another job");
    trial.store().erase(vec![job("job_1")]).await.unwrap();
    assert_eq!(trial.intent("post-17").await.topic, None);
}

/// The states, `Ordering` last, because the others take time.
const STATES: [IntentState; 4] =
    [IntentState::Unknown, IntentState::Ordered, IntentState::Abandoned, IntentState::Ordering];

/// No intent orders twice: the second call learns what is known, and changes nothing.
pub async fn an_intent_is_stored_once(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    let stored = known(&trial, "post-17").await;
    let mut expected =
        IntentRow::new(WITHIN, trial.now()).into_intent(stored.id, "post-17".into(), trial.now());
    expected.at = trial.now() + WITHIN;
    assert_eq!(stored, expected);
    trial.advance_by(WITHIN - Duration::from_millis(1));
    assert_eq!(known(&trial, "post-17").await, expected);
    trial.advance_by(Duration::from_millis(1));
    expected.state = IntentState::Unknown;
    assert_eq!(known(&trial, "post-17").await, expected, "it has no answer");
    assert_eq!(trial.store().intent("post-18").await.unwrap(), None);
}

pub async fn one_of_several_calls_at_once_orders(trial: Trial<dyn Subject>) {
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let ledger = trial.store();
        calls.spawn(async move { ledger.intend("post-17", WITHIN, KEY, None).await.unwrap() });
    }
    let results = calls.join_all().await;
    let begun = results.iter().filter(|result| matches!(result, Intended::Begun(_)));
    assert_eq!(begun.count(), 1);
}

/// In a pause no call begins, and nothing is stored. What is known is reported all the same.
pub async fn no_call_begins_in_a_pause(mut trial: Trial<dyn Subject>) {
    for state in STATES {
        put(&mut trial, state.as_str(), state).await;
    }
    trial.store().report(BucketEvent::RateLimited { retry_after: WITHIN / 2 }).await.unwrap();
    let bucket = trial.store().bucket().await.unwrap();
    let paused = Intended::Paused(bucket.paused(KEY, trial.now()).expect("it is paused"));
    let ledger = trial.store();
    assert_eq!(ledger.intend("post-17", WITHIN, KEY, None).await.unwrap(), paused);
    assert_eq!(ledger.order_again("post-17", WITHIN, KEY, None).await.unwrap(), paused);
    assert_eq!(ledger.intent("post-17").await.unwrap(), None);
    for state in STATES {
        let name = state.as_str();
        let before = trial.intent(name).await;
        assert_eq!(known(&trial, name).await, before);
        let again = ledger.order_again(name, WITHIN, KEY, None).await.unwrap();
        let is_paused = matches!(state, IntentState::Unknown | IntentState::Abandoned);
        let expected = if is_paused { paused.clone() } else { Intended::Known(before.clone()) };
        assert_eq!(again, expected, "{name}");
        assert_eq!(trial.intent(name).await, before);
    }
    trial.advance_by(WITHIN / 2);
    trial.intended("post-17").await;
    assert_eq!(trial.store().bucket().await.unwrap(), bucket, "a call takes no token");
}

/// The outcome of a call that has ended without a certain answer is unknown at once.
pub async fn a_call_whose_answer_was_lost_is_unknown(mut trial: Trial<dyn Subject>) {
    let lease = trial.intended("post-17").await;
    trial.advance(1);
    assert!(trial.store().outcome_lost(lease).await.unwrap());
    let unknown = trial.intent("post-17").await;
    assert_eq!((unknown.state, unknown.at), (IntentState::Unknown, trial.now()));
    assert_eq!(trial.store().ledger_counts().await.unwrap().unknown_intents, 1);
    trial.advance(1);
    assert!(!trial.store().outcome_lost(lease).await.unwrap(), "it is known to be unknown");
    assert_eq!(trial.intent("post-17").await, unknown);

    let second = order_again(&trial, "post-17").await.expect("it is unknown");
    let before = trial.intent("post-17").await;
    assert!(!trial.store().outcome_lost(lease).await.unwrap(), "another call is under way");
    assert_eq!(trial.intent("post-17").await, before);
    assert!(trial.store().outcome_lost(second).await.unwrap());
    trial.store().record(with_intent("job_1", "post-17")).await.unwrap();
    assert_eq!(trial.intent("post-17").await.job_id, Some(job("job_1")), "a delivery resolves it");
}

/// The answer to an order counts in every state of its intent, also after its deadline.
pub async fn a_late_answer_counts(mut trial: Trial<dyn Subject>) {
    for state in STATES {
        let name = state.as_str();
        put(&mut trial, name, state).await;
        let late = format!("late-{name}");
        trial.store().ordered(name, job(&late), trial.after(600), KEY).await.unwrap();
        let intent = trial.intent(name).await;
        let expected = if state == IntentState::Ordered { name } else { &late };
        assert_eq!((intent.state, intent.job_id), (IntentState::Ordered, Some(job(expected))));
        assert_eq!(trial.job(&late).await.intent.as_deref(), Some(name), "each job is expected");
    }
}

/// An order whose answer was lost resolves itself when its article arrives, also one that was abandoned. The job is polled once no
/// answer can come.
pub async fn a_delivery_resolves_its_intent(mut trial: Trial<dyn Subject>) {
    for state in STATES.into_iter().filter(|state| *state != IntentState::Ordered) {
        let name = state.as_str();
        put(&mut trial, name, state).await;
        trial.store().record(with_intent(name, name)).await.unwrap();
        let intent = trial.intent(name).await;
        assert_eq!((intent.state, intent.at), (IntentState::Ordered, trial.now()));
        assert_eq!(intent.job_id, Some(job(name)));
        let shown = trial.job(name).await;
        assert_eq!((shown.state, shown.reason), (JobState::Expected, Reason::Ordered));
        let deadline =
            if state == IntentState::Ordering { trial.now() + WITHIN } else { trial.now() };
        assert_eq!(shown.at, deadline, "{state}");
        assert_eq!((shown.intent.as_deref(), shown.pushed_at), (Some(name), Some(trial.now())));
    }
}

/// The same holds for a delivery by token, and for a job that the application names itself.
pub async fn a_job_that_is_vouched_for_resolves_its_intent(mut trial: Trial<dyn Subject>) {
    for name in ["delivered", "expected"] {
        put(&mut trial, name, IntentState::Ordering).await;
        if name == "delivered" {
            let by_token = Arrival { target: "blog".into(), ..with_intent(name, name) };
            trial.store().record(by_token).await.unwrap();
        } else {
            let expect = Expect::job(job(name), trial.now());
            trial.expect(Expect { intent: Some(name.into()), ..expect }).await;
        }
        let intent = trial.intent(name).await;
        assert_eq!((intent.state, intent.job_id), (IntentState::Ordered, Some(job(name))));
    }
}

/// A delivery with an intent that the ledger does not have adds neither.
pub async fn an_intent_of_another_ledger_is_not_added(trial: Trial<dyn Subject>) {
    trial.store().record(with_intent("job_1", "post-17")).await.unwrap();
    assert_eq!(trial.store().intent("post-17").await.unwrap(), None);
    assert_eq!(trial.store().job(job("job_1")).await.unwrap(), None);
}

pub async fn a_refused_order_may_be_made_at_once(mut trial: Trial<dyn Subject>) {
    for state in [IntentState::Ordering, IntentState::Unknown] {
        let lease = put(&mut trial, "post-17", state).await;
        assert!(trial.store().not_ordered(lease).await.unwrap().is_noted);
        assert_eq!(trial.store().intent("post-17").await.unwrap(), None);
        assert!(!trial.store().not_ordered(lease).await.unwrap().is_noted, "it is gone");
    }
    let lease = put(&mut trial, "post-17", IntentState::Ordering).await;
    trial.store().not_ordered(lease).await.unwrap();
    trial.intended("post-17").await;
    assert!(!trial.store().not_ordered(lease).await.unwrap().is_noted, "another call is under way");
    assert_eq!(trial.intent("post-17").await.state, IntentState::Ordering);
}

/// An intent is ordered again when its outcome is unknown or it was abandoned, and when it is not stored.
pub async fn an_intent_is_ordered_again(mut trial: Trial<dyn Subject>) {
    for state in [IntentState::Unknown, IntentState::Abandoned] {
        let name = state.as_str();
        let first = put(&mut trial, name, state).await;
        let before = trial.intent(name).await;
        let second = order_again(&trial, name).await.expect("it may be ordered again");
        assert_eq!(second.id, first.id);
        assert!(second.fence > first.fence);
        assert!(!trial.store().not_ordered(first).await.unwrap().is_noted, "fencing");
        let begun = changed(before, |intent| {
            (intent.state, intent.at) = (IntentState::Ordering, trial.now() + WITHIN);
        });
        assert_eq!(trial.intent(name).await, begun);
    }
    assert!(order_again(&trial, "post-17").await.is_some());
}

/// If the second call proves that it ordered nothing, the first may have ordered even so.
pub async fn a_refusal_does_not_hide_an_earlier_call(mut trial: Trial<dyn Subject>) {
    put(&mut trial, "post-17", IntentState::Unknown).await;
    let second = order_again(&trial, "post-17").await.expect("it is unknown");
    trial.advance(1);
    assert!(trial.store().not_ordered(second).await.unwrap().is_noted);
    let intent = trial.intent("post-17").await;
    assert_eq!((intent.state, intent.at), (IntentState::Unknown, trial.now()));
}

pub async fn an_unknown_intent_is_abandoned(mut trial: Trial<dyn Subject>) {
    put(&mut trial, "post-17", IntentState::Unknown).await;
    let before = trial.intent("post-17").await;
    trial.advance(1);
    assert!(trial.store().abandon("post-17").await.unwrap());
    let abandoned = changed(before, |intent| {
        (intent.state, intent.at) = (IntentState::Abandoned, trial.now());
    });
    assert_eq!(trial.intent("post-17").await, abandoned);
}

/// No intent orders twice: a call that does not fit what is known changes nothing.
pub async fn a_call_that_does_not_fit_what_is_known_changes_nothing(mut trial: Trial<dyn Subject>) {
    let ledger = trial.store();
    for state in STATES {
        let name = state.as_str();
        let lease = put(&mut trial, name, state).await;
        let before = trial.intent(name).await;
        assert_eq!(known(&trial, name).await, before);
        if state != IntentState::Ordering {
            assert!(!ledger.outcome_lost(lease).await.unwrap(), "{name}");
        }
        if state != IntentState::Unknown {
            assert!(!ledger.abandon(name).await.unwrap(), "{name}");
        }
        if matches!(state, IntentState::Ordered | IntentState::Abandoned) {
            assert!(!ledger.not_ordered(lease).await.unwrap().is_noted, "{name}");
        }
        if matches!(state, IntentState::Ordered | IntentState::Ordering) {
            assert_eq!(order_again(&trial, name).await, None, "{name}");
        }
        assert_eq!(trial.intent(name).await, before);
    }
    assert!(!ledger.outcome_lost(IntentLease { id: 1 << 40, fence: 1 }).await.unwrap());
    assert!(!ledger.abandon("post-17").await.unwrap());
}
