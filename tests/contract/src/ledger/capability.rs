//! Which jobs the URL of an order is good for, and what outranks what came to it.

use std::time::{Duration, SystemTime};

use article_webhook_inbox::{
    Digest, EntryKey, IntentState, JobState, MAX_BODIES_PER_ENTRY, Reason,
    store::{
        Arrival, CallRefused, Expect, Intended, Outcome, Poll, PollOutcome, PollSettled,
        Quarantine, Quarantined, Recorded, Settled,
    },
};

use super::steps::{KEY, POLLS, WITHIN, again, answered, failed, not_found, with_intent};
use crate::{
    Subject, Trial,
    trial::{CLAIM, FIRST, arrival, job, key},
};

const INTENT: &str = "post-17";

fn article(id: &str) -> String {
    format!(
        r#"{{"job_id": "{id}", "status": "complete", "article": {{"title": "A", "html": ""}}}}"#
    )
}

/// A delivery of this body to the URL of an order.
fn to_url_of(name: &str, id: &str, body: &str) -> Arrival {
    let Arrival { intent, target, .. } = with_intent(id, name);
    Arrival { intent, target, ..arrival(id, body) }
}

fn to_url(id: &str, body: &str) -> Arrival {
    to_url_of(INTENT, id, body)
}

fn missing() -> PollOutcome {
    PollOutcome::Missing { after: Duration::from_secs(600), cause: "job_not_found".into() }
}

/// What an inbox keeps of a delivery that was refused.
fn refused(arrival: Arrival, now: SystemTime) -> Quarantine {
    let reason = Reason::Refused { code: "unauthorized".into() };
    let expect = Expect::job(arrival.key.job_id.clone(), now);
    let expect = Some(Expect { reason, intent: arrival.intent.clone(), ..expect });
    Quarantine { arrival, cause: "refused".into(), expect, statement: None, budget: 256 << 20 }
}

impl<S: Subject + ?Sized> Trial<S> {
    async fn deliver(&self, id: &str) -> Recorded {
        self.deliver_to(INTENT, id).await
    }

    async fn deliver_to(&self, name: &str, id: &str) -> Recorded {
        self.store().record(to_url_of(name, id, &article(id))).await.unwrap()
    }

    async fn keep_refused(&self, id: &str) -> Quarantined {
        self.keep_refused_of(INTENT, id).await
    }

    async fn keep_refused_of(&self, name: &str, id: &str) -> Quarantined {
        let arrival = to_url_of(name, id, &article(id));
        self.store().quarantine(refused(arrival, self.now())).await.unwrap()
    }

    /// The answer to an order is lost.
    async fn lost_order(&self, name: &str) {
        let lease = self.intended(name).await;
        assert!(self.store().outcome_lost(lease).await.unwrap());
    }

    async fn answer_order(&self, name: &str, id: &str) -> Option<String> {
        let other = self.store().ordered(name, job(id), self.after(600), KEY).await.unwrap();
        other.map(|other| other.to_string())
    }

    /// The order has this job, and the job this order.
    async fn is_of(&self, name: &str, id: &str) {
        let found = (self.intent(name).await.job_id, self.job(id).await.intent);
        assert_eq!(found, (Some(job(id)), Some(name.into())));
    }

    /// How many bodies of the job are in quarantine.
    async fn in_quarantine(&self, id: &str) -> usize {
        let shown = self.store().show(key(id).quarantine()).await.unwrap();
        shown.map_or(0, |(_, bodies)| bodies.len())
    }

    /// A forged job is of no order. Its body is in quarantine, or a handler had it.
    async fn is_of_no_order(&self, id: &str, quarantined: usize) {
        let found = (self.has_entry(key(id)).await, self.in_quarantine(id).await);
        assert_eq!(found, (quarantined == 0, quarantined), "{id}");
        assert_eq!(self.job(id).await.intent, None, "{id}");
    }

    async fn has_entry(&self, key: EntryKey) -> bool {
        self.store().show(key).await.unwrap().is_some()
    }

    async fn is_known(&self, id: &str) -> bool {
        self.store().job(job(id)).await.unwrap().is_some()
    }
}

/// The order is known to be another job: nothing is stored, and the job is not expected. The bodies of two such jobs are kept.
pub async fn another_job_is_refused_once_the_order_was_answered(trial: Trial<dyn Subject>) {
    trial.intended(INTENT).await;
    trial.answer_order(INTENT, "job_1").await;
    let before = trial.intent(INTENT).await;
    for (id, kept) in [("job_2", true), ("job_3", true), ("job_4", false)] {
        for event in ["article.complete", "article.updated"] {
            let key = EntryKey { job_id: job(id), event: event.into() };
            let delivery = Arrival { key: key.clone(), ..to_url(id, &article(id)) };
            assert_eq!(trial.store().record(delivery).await.unwrap(), Recorded::OtherJob);
            assert!(!trial.has_entry(key).await, "{id} {event}");
        }
        assert_eq!(trial.keep_refused(id).await, Quarantined::OtherJob { kept }, "{id}");
        assert_eq!((trial.in_quarantine(id).await, trial.is_known(id).await), (kept.into(), false));
    }
    assert_eq!(trial.intent(INTENT).await, before);
    assert!(matches!(trial.deliver("job_1").await, Recorded::Arrived { .. }));
    assert_eq!(trial.keep_refused("job_2").await, Quarantined::OtherJob { kept: true }, "again");
}

/// A job that is known to be that of another order is refused before the answer, too.
pub async fn the_job_of_another_order_is_refused(trial: Trial<dyn Subject>) {
    trial.intended("post-18").await;
    trial.answer_order("post-18", "job_1").await;
    trial.intended(INTENT).await;
    assert_eq!(trial.deliver("job_1").await, Recorded::OtherJob);
    assert_eq!(trial.intent(INTENT).await.state, IntentState::Ordering);
}

/// The article may come before the answer, which confirms it.
pub async fn the_first_job_is_that_of_the_order_until_the_answer(trial: Trial<dyn Subject>) {
    trial.intended(INTENT).await;
    assert!(trial.deliver("job_1").await.is_stored());
    assert_eq!(trial.deliver("job_2").await, Recorded::OtherJob);
    assert_eq!(trial.answer_order(INTENT, "job_1").await, None);
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.intent.as_deref()), (JobState::Arrived, Some(INTENT)));
    assert_eq!(trial.deliver("job_1").await, Recorded::Duplicate);
    assert_eq!(trial.deliver("job_2").await, Recorded::OtherJob);
}

/// A forged first body is taken out of the way by the answer, and handed to no worker.
pub async fn a_late_answer_takes_a_forged_job_away(trial: Trial<dyn Subject>) {
    trial.intended(INTENT).await;
    assert!(trial.deliver("forged").await.is_stored());
    assert_eq!(trial.intent(INTENT).await.job_id, Some(job("forged")));
    assert_eq!(trial.deliver("job_1").await, Recorded::OtherJob);
    assert_eq!(trial.keep_refused("job_1").await, Quarantined::OtherJob { kept: true });

    assert_eq!(trial.answer_order(INTENT, "job_1").await, None);
    assert_eq!(trial.intent(INTENT).await.job_id, Some(job("job_1")));
    assert!(!trial.has_entry(key("forged")).await);
    assert_eq!(
        trial.job("forged").await.state,
        JobState::Expected,
        "a repeated call may have ordered it"
    );
    assert_eq!(trial.in_quarantine("forged").await, 1);
    assert_eq!(trial.claim().await.claimed, []);
    assert_eq!(trial.deliver("forged").await, Recorded::OtherJob);
    assert!(!trial.requeue(key("forged").quarantine()).await, "it stays there");

    assert!(trial.deliver("job_1").await.is_stored());
    assert_eq!(trial.in_quarantine("job_1").await, 0, "a good copy came");
    assert_eq!(trial.job("job_1").await.intent.as_deref(), Some(INTENT));
}

/// What a handler may have had is reported. The worker that has it loses its lease, and no other gets it.
pub async fn a_forged_job_that_was_handed_out_is_reported(mut trial: Trial<dyn Subject>) {
    let retry = Outcome::Retry { after: CLAIM.lease, cause: "no network".into() };
    for (name, outcome) in
        [("post-17", None), ("post-18", Some(Outcome::Done)), ("post-19", Some(retry))]
    {
        let (forged, is_done) = (format!("{name}_forged"), matches!(outcome, Some(Outcome::Done)));
        trial.intended(name).await;
        trial.deliver_to(name, &forged).await;
        let lease = trial.lease(&forged).await;
        if let Some(outcome) = outcome {
            assert_eq!(trial.settle(lease, outcome).await, Settled::Settled);
        }
        assert_eq!(trial.answer_order(name, name).await.as_deref(), Some(&*forged));
        let settled = if is_done { Settled::AlreadyDone } else { Settled::LostLease };
        assert_eq!(trial.settle(lease, Outcome::Done).await, settled);
        trial.is_of_no_order(&forged, usize::from(!is_done)).await;
        trial.advance_by(CLAIM.lease);
        assert_eq!(trial.claim().await.claimed, []);
        assert!(trial.deliver_to(name, name).await.is_stored());
        trial.work(name, Outcome::Done).await;
    }
}

/// So is a job of another order that the service knows. Its article is not here any more, and is expected again.
pub async fn a_late_answer_takes_a_known_job_away(mut trial: Trial<dyn Subject>) {
    trial.intended(INTENT).await;
    trial.deliver("job_1").await;
    trial.advance_by(WITHIN);
    let unfinished = PollOutcome::Unfinished { after: WITHIN, cause: "queued".into() };
    trial.poll_ends("job_1", unfinished, JobState::Arrived).await;
    assert_eq!(trial.answer_order(INTENT, "job_2").await, None);
    trial.is_of_no_order("job_1", 1).await;
    assert_eq!(trial.state("job_1").await, JobState::Expected);
}

/// The answer may name a job that a leaked URL of another order has brought.
pub async fn an_answer_takes_its_job_from_another_order(trial: Trial<dyn Subject>) {
    trial.intended(INTENT).await;
    trial.intended("post-18").await;
    assert!(trial.deliver("job_1").await.is_stored());
    assert_eq!(trial.answer_order("post-18", "job_1").await, None);
    let shown = trial.job("job_1").await;
    assert_eq!((shown.state, shown.intent.as_deref()), (JobState::Expected, Some("post-18")));
    assert_eq!(
        (trial.in_quarantine("job_1").await, trial.has_entry(key("job_1")).await),
        (1, false)
    );
    let first = trial.intent(INTENT).await;
    assert_eq!((first.state, first.job_id), (IntentState::Ordering, None));
    assert!(trial.deliver("job_2").await.is_stored());
    assert!(trial.deliver_to("post-18", "job_1").await.is_stored());
}

/// As many jobs as calls were made: the answer to the first was lost.
pub async fn each_call_of_an_intent_may_have_a_job(trial: Trial<dyn Subject>) {
    let lease = trial.intended(INTENT).await;
    assert!(trial.store().outcome_lost(lease).await.unwrap());
    let again = trial.store().order_again(INTENT, WITHIN, KEY, None).await.unwrap();
    assert!(matches!(again, Intended::Begun(_)));
    assert_eq!(trial.answer_order(INTENT, "job_2").await, None);
    for id in ["job_2", "job_1"] {
        assert!(trial.deliver(id).await.is_stored(), "{id}");
        assert_eq!(trial.job(id).await.intent.as_deref(), Some(INTENT));
    }
    assert_eq!(trial.intent(INTENT).await.job_id, Some(job("job_2")), "the first stays");
    assert_eq!(trial.deliver("job_3").await, Recorded::OtherJob);
}

/// The answer was lost. The API is polled about the job that was delivered, although its article is here, and knows it.
pub async fn a_job_that_the_service_knows_is_that_of_the_order(trial: Trial<dyn Subject>) {
    let unfinished =
        || PollOutcome::Unfinished { after: Duration::from_secs(60), cause: "queued".into() };
    for (id, outcome, state, bodies) in [
        ("job_1", answered(&article("job_1")), JobState::Collected, 1),
        ("job_2", answered(FIRST), JobState::Collected, 2),
        ("job_3", unfinished(), JobState::Arrived, 1),
    ] {
        trial.lost_order(id).await;
        assert!(trial.deliver_to(id, id).await.is_stored());
        assert_eq!(trial.state(id).await, JobState::Expected, "it may be forged");
        let poll = trial.poll(id).await;
        assert_eq!(trial.settle_poll(poll, outcome).await, PollSettled::Settled(state), "{id}");
        assert_eq!(trial.bodies(id).await.len(), bodies);
        trial.work(id, Outcome::Done).await;
        let shown = trial.job(id).await;
        assert_eq!((shown.state, shown.intent.as_deref()), (state, Some(id)));
        assert_eq!(trial.polled(POLLS).await, Vec::<String>::new());
        assert_eq!(trial.deliver_to(id, id).await, Recorded::Duplicate);
    }
}

/// Both jobs may be genuine, so that the first stays until the API does not know it.
pub async fn another_job_that_the_service_knows_proves_nothing_by_itself(
    mut trial: Trial<dyn Subject>,
) {
    trial.lost_order(INTENT).await;
    trial.deliver("job_1").await;
    trial.keep_refused("job_2").await;
    let polls = trial.claim_polls(POLLS).await.polls;
    assert_eq!(polls.len(), 2);
    for Poll { lease, job } in polls.into_iter().rev() {
        let id = job.job_id.as_str();
        let settled = trial.settle_poll(lease, answered(&article(id))).await;
        // The first was not asked about when the second was answered.
        let state = if id == "job_1" { JobState::Collected } else { JobState::Expected };
        assert_eq!(settled, PollSettled::Settled(state), "{id}");
    }
    trial.advance(3600);
    trial.poll_ends("job_2", answered(&article("job_2")), JobState::Collected).await;
    trial.is_of(INTENT, "job_1").await;
    assert_eq!(trial.job("job_2").await.intent, None);
}

/// The API knows the second job before it was asked about the first, which is forged. The article is handled once, and the job is
/// polled until it is known whether it is that of the order.
pub async fn a_job_that_the_service_knows_waits_for_what_it_says_of_the_first(
    mut trial: Trial<dyn Subject>,
) {
    trial.lost_order(INTENT).await;
    trial.deliver("forged").await;
    trial.work("forged", Outcome::Done).await;
    trial.keep_refused("job_1").await;
    let body = || answered(&article("job_1"));
    let polls = trial.claim_polls(POLLS).await.polls;
    let [forged, genuine] = &polls[..] else { panic!("{polls:?}") };
    let settled = trial.settle_poll(genuine.lease, body()).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Expected));
    trial.settle_poll(forged.lease, missing()).await;
    trial.work("job_1", Outcome::Done).await;
    trial.advance(9);
    assert_eq!(trial.prune_old().await.entries, 0, "both are in doubt");
    assert_eq!(trial.state("job_1").await, JobState::Expected);
    assert_eq!(trial.intent(INTENT).await.job_id, Some(job("forged")));

    trial.advance(591);
    trial.poll_with("forged", again(24 * 3600)).await;
    trial.advance(3000);
    let settled = trial.poll_with("job_1", body()).await;
    let expected = PollSettled::OtherHandled { state: JobState::Collected, other: job("forged") };
    assert_eq!(settled, expected);
    trial.is_of(INTENT, "job_1").await;
    assert_eq!(trial.job("forged").await.intent, None);
    assert_eq!(trial.claim().await.claimed, [], "it is not handled again");
}

/// The API does not know the job that was delivered: the order is open again, and its URL is good for the next one.
pub async fn a_job_that_the_service_does_not_know_is_not_that_of_the_order(
    mut trial: Trial<dyn Subject>,
) {
    for (forged, id, is_handled) in [("forged", "job_1", false), ("handled", "job_2", true)] {
        let name = id;
        trial.lost_order(name).await;
        assert!(trial.deliver_to(name, forged).await.is_stored());
        if is_handled {
            trial.work(forged, Outcome::Done).await;
        }
        let poll = trial.poll(forged).await;
        trial.keep_refused_of(name, id).await;
        let settled = trial.settle_poll(poll, not_found()).await;
        let state = if is_handled { JobState::Arrived } else { JobState::NotFound };
        let expected = match is_handled {
            true => PollSettled::OtherHandled { state, other: job(forged) },
            false => PollSettled::Settled(state),
        };
        assert_eq!((settled, trial.state(forged).await), (expected, state));
        trial.is_of_no_order(forged, usize::from(!is_handled)).await;
        let intent = trial.intent(name).await;
        assert_eq!((intent.state, intent.job_id), (IntentState::Unknown, None), "it is listed");

        trial.poll_with(id, again(60)).await;
        assert_eq!(trial.intent(name).await.job_id, None, "that says nothing of the job");
        trial.advance(60);
        trial.poll_ends(id, answered(&article(id)), JobState::Collected).await;
        trial.is_of(name, id).await;
        trial.work(id, Outcome::Done).await;
        assert_eq!(trial.deliver_to(name, forged).await, Recorded::OtherJob);
    }
}

/// A body by token says that the service has the job.
pub async fn a_job_that_came_by_token_is_not_polled(trial: Trial<dyn Subject>) {
    for is_first in [false, true] {
        let id = if is_first { "job_1" } else { "job_2" };
        trial.lost_order(id).await;
        let mut bodies = [to_url_of(id, id, &article(id)), arrival(id, FIRST)];
        if is_first {
            bodies.reverse();
        }
        for body in bodies {
            trial.store().record(body).await.unwrap();
        }
        let shown = trial.job(id).await;
        assert_eq!((shown.state, shown.intent.as_deref()), (JobState::Arrived, Some(id)));
        trial.work(id, Outcome::Done).await;
    }
}

/// A body by token does not say to which order its job belongs. If it was refused at the URL of one, a poll decides.
pub async fn a_refused_job_that_came_by_token_may_be_that_of_the_order(trial: Trial<dyn Subject>) {
    trial.lost_order(INTENT).await;
    trial.deliver("forged").await;
    trial.keep_refused("job_1").await;
    assert!(trial.record("job_1", &article("job_1")).await.is_stored());
    let polls = trial.claim_polls(POLLS).await.polls;
    let [forged, genuine] = &polls[..] else { panic!("{polls:?}") };
    trial.settle_poll(forged.lease, missing()).await;
    let settled = trial.settle_poll(genuine.lease, answered(&article("job_1"))).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Collected));
    trial.is_of(INTENT, "job_1").await;
}

/// The call took nothing, so that what was delivered to the URL is forged. The order may be made again at once.
pub async fn a_call_that_took_nothing_takes_its_job_away(trial: Trial<dyn Subject>) {
    for (forged, is_handled) in [("forged", false), ("handled", true)] {
        let lease = trial.intended(INTENT).await;
        assert!(trial.deliver(forged).await.is_stored());
        if is_handled {
            trial.work(forged, Outcome::Done).await;
        }
        let refused = trial.store().not_ordered(lease).await.unwrap();
        let handled = is_handled.then(|| job(forged));
        assert_eq!(refused, CallRefused { is_noted: true, handled });
        assert_eq!(trial.store().intent(INTENT).await.unwrap(), None);
        trial.is_of_no_order(forged, usize::from(!is_handled)).await;
        let again = trial.store().not_ordered(lease).await.unwrap();
        assert_eq!(again, CallRefused { is_noted: false, handled: None });
    }
}

/// A delivery that was refused is noted when its order is gone already. The job is not one of the next order of that name.
pub async fn a_job_of_a_call_that_took_nothing_is_not_of_the_next(mut trial: Trial<dyn Subject>) {
    let lease = trial.intended(INTENT).await;
    assert!(trial.store().not_ordered(lease).await.unwrap().is_noted);
    let forged = Expect {
        reason: Reason::Refused { code: "malformed_json".into() },
        intent: Some(INTENT.into()),
        ..Expect::job(job("forged"), trial.after(600))
    };
    trial.store().expect(vec![forged]).await.unwrap();
    trial.advance(1);
    trial.intended(INTENT).await;
    assert_eq!(trial.answer_order(INTENT, "job_1").await, None);
    assert_eq!(trial.deliver("forged").await, Recorded::OtherJob);
    assert!(trial.deliver("job_1").await.is_stored());
}

/// A second job that was delivered to the URL of such a call is of no order, and its poll ends.
pub async fn a_second_job_of_a_call_that_took_nothing_is_collected(mut trial: Trial<dyn Subject>) {
    let lease = trial.intended(INTENT).await;
    trial.deliver("job_1").await;
    trial.keep_refused("job_2").await;
    assert!(trial.store().not_ordered(lease).await.unwrap().is_noted);
    trial.advance(3600);
    for Poll { lease, job } in trial.claim_polls(POLLS).await.polls {
        let id = job.job_id.as_str();
        let settled = trial.settle_poll(lease, answered(&article(id))).await;
        assert_eq!(settled, PollSettled::Settled(JobState::Collected), "{id}");
        assert_eq!(trial.job(id).await.intent, None, "{id}");
    }
    assert_eq!(trial.state("job_2").await, JobState::Collected);
}

/// Of two calls one took nothing: the job may be that of the other, and a second one is not.
pub async fn a_call_that_took_nothing_leaves_the_job_of_another(trial: Trial<dyn Subject>) {
    for is_answered in [false, true] {
        let name = if is_answered { "post-17" } else { "post-18" };
        let (first, second) = (format!("{name}_1"), format!("{name}_2"));
        trial.lost_order(name).await;
        let again = trial.store().order_again(name, WITHIN, KEY, None).await.unwrap();
        let Intended::Begun(lease) = again else { panic!("{again:?}") };
        if is_answered {
            trial.answer_order(name, &first).await;
        }
        let delivered = if is_answered { [&second, &second] } else { [&first, &second] };
        for id in delivered {
            trial.deliver_to(name, id).await;
        }
        assert!(trial.store().not_ordered(lease).await.unwrap().is_noted);
        let intent = trial.intent(name).await;
        assert_eq!((intent.state, intent.job_id), (IntentState::Ordered, Some(job(&first))));
        assert_eq!(trial.job(&first).await.intent.as_deref(), Some(name));
        trial.is_of_no_order(&second, 1).await;
    }
}

/// While a call has no answer, the jobs of eight others are polled. The bodies of two are kept. What is refused beyond that can be
/// expected by name.
pub async fn so_many_jobs_are_polled_for_one_order(trial: Trial<dyn Subject>) {
    trial.lost_order(INTENT).await;
    assert!(trial.deliver("first").await.is_stored());
    for number in 0..10 {
        let id = format!("job_{number}");
        assert_eq!(trial.deliver(&id).await, Recorded::OtherJob);
        let expected = match number {
            0..2 => Quarantined::OtherJob { kept: true },
            2..8 => Quarantined::OtherJob { kept: false },
            _ => Quarantined::TooManyJobs,
        };
        for _ in 0..2 {
            assert_eq!(trial.keep_refused(&id).await, expected, "{id}");
        }
        let reason = Reason::Refused { code: "unauthorized".into() };
        let expect =
            Expect { reason, intent: Some(INTENT.into()), ..Expect::job(job(&id), trial.now()) };
        trial.expect(expect).await;
        assert_eq!(trial.is_known(&id).await, number < 8, "{id}");
    }
    assert_eq!(trial.claim_polls(POLLS).await.polls.len(), 9);
    let settled = trial.end("job_9", answered(&article("job_9"))).await;
    assert_eq!(settled, PollSettled::Settled(JobState::Collected));
}

/// An erased job leaves nothing in its intent but a digest, and its URL is good for no other.
pub async fn an_erased_job_is_not_bound_any_more(trial: Trial<dyn Subject>) {
    trial.intended(INTENT).await;
    trial.deliver("job_1").await;
    trial.store().erase(vec![job("job_1")]).await.unwrap();
    let intent = trial.intent(INTENT).await;
    assert_eq!((intent.state, intent.job_id), (IntentState::Ordered, None));
    assert_eq!(trial.deliver("job_2").await, Recorded::OtherJob);
    assert!(trial.deliver("job_1").await.is_stored(), "what comes after it was erased is new");
    assert_eq!(trial.answer_order(INTENT, "job_2").await, None);
    assert!(trial.deliver("job_2").await.is_stored());
}

/// A delivery with the token of a body that came to a URL vouches for that body, which keeps its intent.
pub async fn a_body_that_comes_by_token_too_counts_as_that(trial: Trial<dyn Subject>) {
    let by_token = |body: &str| arrival("job_1", body);
    trial.store().record(to_url("job_1", "1")).await.unwrap();
    trial.store().record(to_url("job_1", "2")).await.unwrap();
    assert_eq!(trial.store().record(by_token("2")).await.unwrap(), Recorded::Duplicate);
    let bodies = trial.shown("job_1").await.1;
    assert_eq!(
        bodies.iter().map(|body| body.is_by_capability()).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(bodies[1].intent.as_deref(), Some(INTENT));
}

/// While a full entry waits, a body by token takes the place of one that came to a URL. It never does under a lease.
pub async fn a_body_by_token_finds_room_behind_those_of_urls(trial: Trial<dyn Subject>) {
    for number in 0..MAX_BODIES_PER_ENTRY {
        trial.store().record(to_url("job_1", &number.to_string())).await.unwrap();
    }
    let record = async |arrival| trial.store().record(arrival).await.unwrap();
    assert_eq!(record(to_url("job_1", "5")).await, Recorded::BodyLimitReached);
    assert_eq!(record(arrival("job_1", "6")).await, Recorded::Conflict { kept: true });
    let kept: Vec<_> = trial.bodies("job_1").await.into_iter().flatten().collect();
    assert_eq!(kept, ["0", "1", "2", "6"]);
    trial.lease("job_1").await;
    assert_eq!(record(arrival("job_1", "7")).await, Recorded::BodyLimitReached);
}

/// A delivery reported that its job has failed: one answer of the API that reports the same ends the job, and then nothing is
/// left in quarantine. Any other body stays there.
pub async fn a_failure_that_was_delivered_needs_one_answer(trial: Trial<dyn Subject>) {
    for (others, kept) in [(&[][..], 0), (&["{"], 2)] {
        let says = arrival("job_1", r#"{"job_id": "job_1", "status": "failed"}"#);
        let statement = Some(Digest::of(b"failed"));
        let quarantine = Quarantine { statement, ..refused(says, trial.now()) };
        assert_eq!(trial.store().quarantine(quarantine).await.unwrap(), Quarantined::Kept);
        for other in others {
            let other = refused(arrival("job_1", other), trial.now());
            assert_eq!(trial.store().quarantine(other).await.unwrap(), Quarantined::Kept);
        }
        let polls = trial.claim_polls(POLLS).await.polls;
        assert_eq!(polls[0].job.unconfirmed, statement, "one more is enough");
        let ended = trial.settle_poll(polls[0].lease, failed("failed")).await;
        assert_eq!(ended, PollSettled::Settled(JobState::Failed));
        assert_eq!(trial.in_quarantine("job_1").await, kept);
        trial.store().erase(vec![job("job_1")]).await.unwrap();
    }
}
