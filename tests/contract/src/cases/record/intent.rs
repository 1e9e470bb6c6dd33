//! Which orders bodies are known to be of.

use article_webhook_inbox::{
    MAX_BODIES_PER_ENTRY, Source, State,
    store::{Arrival, Recorded},
};

use super::OTHERS;
use crate::{
    Subject, Trial,
    trial::{FIRST, STATES, arrival, bytes, corrupt, damaged, key, unhandled},
};

fn with_intent(job: &str, body: &str, intent: &str) -> Arrival {
    Arrival { intent: Some(intent.into()), ..arrival(job, body) }
}

async fn intents(trial: &Trial<dyn Subject>, job: &str) -> Vec<Option<Box<str>>> {
    trial.shown(job).await.1.into_iter().map(|body| body.intent).collect()
}

/// One entry: the same body makes no second entry, and leaves the first as it is, in every state except corrupt. An intent that came
/// with it is kept.
pub async fn a_duplicate_changes_nothing_but_the_intent(mut trial: Trial<dyn Subject>) {
    for state in STATES.into_iter().filter(|state| *state != State::Corrupt) {
        let id = state.as_str();
        trial.put(id, state).await;
        let (entry, bodies) = trial.shown(id).await;
        trial.advance(1);
        assert_eq!(trial.record(id, FIRST).await, Recorded::Duplicate, "{state}");
        assert_eq!(trial.shown(id).await, (entry.clone(), bodies.clone()), "{state}");
        let draft = with_intent(id, FIRST, "draft");
        assert_eq!(trial.store().record(draft).await.unwrap(), Recorded::Duplicate, "{state}");
        let mut body = bodies[0].clone();
        body.intent = Some("draft".into());
        assert_eq!(trial.shown(id).await, (entry, vec![body]), "{state}");
    }
}

/// A repeated body without an intent takes none away, and a second intent does not replace the first. Another body that is kept
/// carries its own.
pub async fn the_first_intent_stays(trial: Trial<dyn Subject>) {
    trial.store().record(with_intent("job_1", FIRST, "draft")).await.unwrap();
    trial.record("job_1", FIRST).await;
    assert_eq!(trial.record("job_1", "[]").await, Recorded::Conflict { kept: true });
    let live = || with_intent("job_1", FIRST, "live");
    assert_eq!(trial.store().record(live()).await.unwrap(), Recorded::Duplicate);
    let second = with_intent("job_1", "[]", "live");
    assert_eq!(trial.store().record(second).await.unwrap(), Recorded::Duplicate);
    let third = with_intent("job_1", "[1]", "live");
    assert_eq!(trial.store().record(third).await.unwrap(), Recorded::Conflict { kept: true });
    assert_eq!(intents(&trial, "job_1").await, [Some("draft".into()), None, Some("live".into())]);
}

/// A body that is not kept gives its intent to the first body, if no body has one. If it must come again, it gives
/// nothing.
pub async fn a_body_that_is_not_kept_leaves_its_intent(trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    for other in &OTHERS[..MAX_BODIES_PER_ENTRY - 1] {
        trial.record("job_1", other).await;
    }
    let draft = || with_intent("job_1", OTHERS[4], "draft");
    assert_eq!(trial.store().record(draft()).await.unwrap(), Recorded::BodyLimitReached);
    assert_eq!(intents(&trial, "job_1").await, [None, None, None, None]);

    trial.store().discard(vec![key("job_1")], "not wanted".into()).await.unwrap();
    assert_eq!(trial.store().record(draft()).await.unwrap(), Recorded::Conflict { kept: false });
    assert_eq!(intents(&trial, "job_1").await, [Some("draft".into()), None, None, None]);
}

/// A corrupt body is replaced by everything that is known about the same body, except for its intent, if the new one has
/// none. The entry then waits, due now.
pub async fn the_same_body_mends_a_corrupt_entry(mut trial: Trial<dyn Subject>) {
    // A store never parses a body, and does not check its digest when it records it.
    let broken = Arrival { intent: Some("draft".into()), ..damaged("job_1", FIRST) };
    assert_eq!(trial.store().record(broken).await.unwrap(), Recorded::Stored);
    assert_eq!(trial.bodies("job_1").await, [bytes("flipped")]);
    trial.work("job_1", corrupt(1)).await;
    trial.advance(1);
    let target = "shop".into();
    let fetched = Arrival { source: Source::Api, target, ..arrival("job_1", FIRST) };
    assert_eq!(trial.store().record(fetched.clone()).await.unwrap(), Recorded::Stored);
    let mut expected = fetched.into_body(trial.now());
    expected.intent = Some("draft".into());
    let (entry, bodies) = trial.shown("job_1").await;
    assert_eq!(bodies, [expected]);
    assert_eq!((entry.state, entry.at, entry.cause), (State::Waiting, trial.now(), None));
    assert_eq!((entry.attempts, entry.conflicts), (0, 0));
}

/// A body that replaces the last one of a full entry keeps its intent, unless it has its own.
pub async fn a_replaced_body_leaves_its_intent(trial: Trial<dyn Subject>) {
    trial.record("job_1", FIRST).await;
    for other in &OTHERS[..MAX_BODIES_PER_ENTRY - 2] {
        trial.record("job_1", other).await;
    }
    trial.store().record(with_intent("job_1", OTHERS[2], "draft")).await.unwrap();
    for (body, intent) in [(OTHERS[3], "draft"), (OTHERS[4], "live")] {
        let lease = trial.lease("job_1").await;
        let seen = MAX_BODIES_PER_ENTRY;
        trial.settle(lease, unhandled(seen)).await;
        let body = match intent {
            "draft" => arrival("job_1", body),
            intent => with_intent("job_1", body, intent),
        };
        assert_eq!(trial.store().record(body).await.unwrap(), Recorded::Stored);
        assert_eq!(intents(&trial, "job_1").await[3].as_deref(), Some(intent));
    }
}
