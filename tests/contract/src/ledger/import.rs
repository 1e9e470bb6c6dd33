//! What is imported.

use article_webhook_inbox::{
    IntentState, JobState, State,
    store::{
        Bucket, BucketEvent, Expect, Export, ExportLine, Intended, Merge, Outcome, PollSettled,
        Recorded,
    },
};

use super::{
    arrival::prune,
    steps::{KEY, POLLS, WITHIN, again, answered, not_found, with_intent},
};
use crate::lines::{entry_line, intent_line, job_line};
use crate::{
    Subject, Trial,
    trial::{FIRST, changed, job, key, unhandled},
};

pub async fn an_imported_job_is_as_it_was_shown(mut trial: Trial<dyn Subject>) {
    trial.end("expected", again(600)).await;
    trial.end("collected", answered(FIRST)).await;
    trial.record("collected", FIRST).await;
    trial.leave("collected").await;
    trial.end("not_found", not_found()).await;
    let lease = trial.polling("polling").await;
    trial.advance(9);
    for id in ["expected", "collected", "not_found", "polling"] {
        let shown = trial.job(id).await;
        trial.store().erase(vec![job(id)]).await.unwrap();
        assert!(trial.import(job_line(shown.clone())).await);
        let imported = trial.job(id).await;
        assert!(imported.id > shown.id);
        let expected = changed(shown.clone(), |job| {
            job.id = imported.id;
            if id == "polling" {
                (job.state, job.at) = (JobState::Expected, trial.now());
            }
        });
        assert_eq!(imported, expected);
        assert!(!trial.import(job_line(shown)).await, "it is there");
        assert_eq!(trial.job(id).await, imported);
    }
    assert_eq!(trial.settle_poll(lease, not_found()).await, PollSettled::LostLease);
}

/// An export has a job after its article, so that the article is not taken for a copy of one that retention removed.
pub async fn a_job_is_imported_with_its_article(trial: Trial<dyn Subject>) {
    trial.end("job_1", answered(FIRST)).await;
    let lines = trial.store().export(Export::Entry(key("job_1"))).await.unwrap().items;
    let shown = trial.job("job_1").await;
    assert!(matches!(&lines[..], [ExportLine::Entry(_), ExportLine::Job(_)]), "{lines:?}");
    trial.store().erase(vec![job("job_1")]).await.unwrap();
    let imported = trial.store().import(lines).await.unwrap();
    assert_eq!((imported.added, imported.ledger_added), (1, 1));
    let imported = trial.job("job_1").await;
    assert_eq!(imported, changed(shown, |shown| shown.id = imported.id));
}

/// A job that a delivery alone bound to its order there is so here, whether or not this store has the order: an answer decides.
pub async fn an_imported_job_may_be_bound_by_a_delivery_alone(trial: Trial<dyn Subject>) {
    for (name, forged, genuine) in [("post-17", "a", "job_1"), ("post-18", "b", "job_2")] {
        trial.expect_now(forged).await;
        let mut shown = trial.job(forged).await;
        shown.intent = Some(name.into());
        trial.store().erase(vec![job(forged)]).await.unwrap();
        if name == "post-17" {
            trial.intended(name).await;
        }
        let ExportLine::Job(mut line) = job_line(shown) else { panic!("it is a job") };
        line.document.unproven = line.intent.clone();
        assert!(trial.import(ExportLine::Job(line)).await);
        assert_eq!(trial.intent(name).await.job_id, Some(job(forged)));
        let answered = trial.store().ordered(name, job(genuine), trial.after(600), KEY).await;
        assert_eq!(answered.unwrap(), None);
        assert_eq!(trial.intent(name).await.job_id, Some(job(genuine)));
        assert_eq!(trial.job(forged).await.intent, None);
    }
}

pub async fn an_imported_job_may_have_arrived(trial: Trial<dyn Subject>) {
    for (state, expected) in
        [(State::Done, JobState::Arrived), (State::Unhandled, JobState::Expected)]
    {
        let id = state.as_str();
        trial.expect(Expect::job(job(id), trial.after(600))).await;
        let shown = trial.job(id).await;
        trial.store().erase(vec![job(id)]).await.unwrap();
        trial.put(id, state).await;
        assert!(trial.import(job_line(shown)).await);
        assert_eq!(trial.state(id).await, expected);
    }
}

/// An imported intent is as it was shown, but for its id, and it does not order twice.
pub async fn an_imported_intent_is_as_it_was_shown(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    trial.store().ordered("post-18", job("job_1"), trial.after(600), KEY).await.unwrap();
    trial.advance_by(WITHIN);
    for (name, state) in [("post-17", IntentState::Unknown), ("post-18", IntentState::Ordered)] {
        let shown = trial.intent(name).await;
        assert_eq!(shown.state, state);
        assert!(!trial.import(intent_line(shown.clone())).await, "it is there");
        let mut copy = shown.clone();
        copy.name = format!("copy of {name}").into();
        assert!(trial.import(intent_line(copy.clone())).await);
        let imported = trial.intent(&copy.name).await;
        assert!(imported.id > shown.id);
        assert_eq!(imported, changed(copy, |copy| copy.id = imported.id));
    }
    trial.store().record(with_intent("job_2", "copy of post-17")).await.unwrap();
    assert_eq!(trial.intent("copy of post-17").await.job_id, Some(job("job_2")));
}

/// An intent that was moved while its order was under way is known after a second move, and is not ordered again.
pub async fn an_import_brings_what_became_of_an_intent(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    let mut ordered = trial.intent("post-17").await;
    ordered.state = IntentState::Ordered;
    ordered.job_id = Some(job("job_1"));
    ordered.at = trial.now();
    trial.advance_by(WITHIN);
    assert_eq!(trial.intent("post-17").await.state, IntentState::Unknown);
    assert!(!trial.import(intent_line(ordered.clone())).await, "it is there");
    assert_eq!(trial.intent("post-17").await, ordered);
    let mut other = ordered.clone();
    other.job_id = Some(job("job_2"));
    assert!(!trial.import(intent_line(other)).await);
    assert_eq!(trial.intent("post-17").await, ordered, "its job was known");
}

/// An intent that both stores have is good for the jobs of both. The call of the other store has no answer.
pub async fn an_import_merges_the_calls_of_an_intent(mut trial: Trial<dyn Subject>) {
    trial.intended("post-17").await;
    trial.store().ordered("post-17", job("job_1"), trial.after(600), KEY).await.unwrap();
    let known = trial.intent("post-17").await;
    trial.advance(1);
    let mut there = known.clone();
    there.state = IntentState::Ordering;
    there.created_at = trial.now();
    there.job_id = None;
    for _ in 0..2 {
        assert!(!trial.import(intent_line(there.clone())).await, "it is there");
        assert_eq!(trial.intent("post-17").await, known);
    }
    for (id, is_admitted) in [("job_2", true), ("job_3", false), ("job_1", true)] {
        let recorded = trial.store().record(with_intent(id, "post-17")).await.unwrap();
        assert_eq!(recorded.is_stored(), is_admitted, "{id}");
    }
}

/// An older export may hold the entry of an article that was handled here, and whose entry retention removed since.
pub async fn an_article_that_was_here_is_not_imported(mut trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    trial.record("job_1", FIRST).await;
    let (entry, bodies) = trial.shown("job_1").await;
    trial.work("job_1", Outcome::Done).await;
    trial.advance(9);
    prune(&trial).await;
    assert_eq!(trial.all().await.len(), 0);
    assert!(!trial.import(entry_line(entry.clone(), bodies.clone())).await);
    assert_eq!(trial.all().await.len(), 0, "it was handled here");

    let mut other = entry;
    other.key = key("job_2");
    trial.expect_now("job_2").await;
    assert!(trial.import(entry_line(other, bodies)).await, "it was not here");
    assert_eq!(trial.state("job_2").await, JobState::Arrived);
}

/// An imported bucket takes away what the other store used up, and gives nothing, nor does the first poll or order after it.
pub async fn an_imported_bucket_gives_nothing(trial: Trial<dyn Subject>) {
    let mut refused = Bucket::new();
    let event = BucketEvent::KeyRefused { key: KEY };
    refused.report(event, trial.now());
    trial.import(ExportLine::Bucket(refused)).await;
    trial.expect_now("job_1").await;
    assert!(trial.claim_polls(POLLS).await.polls.is_empty());
    let intended = trial.store().intend("post-17", WITHIN, KEY, None).await.unwrap();
    assert_eq!(intended, Intended::Paused(refused.paused(KEY, trial.now()).unwrap()));
    trial.store().report(BucketEvent::Resumed).await.unwrap();

    trial.claim_polls(POLLS).await;
    let mut expected = trial.store().bucket().await.unwrap();
    let mut other = Bucket { full_at: trial.after(9), ..Bucket::new() };
    other.report(event, trial.now());
    for imported in [other, Bucket::new()] {
        expected.import(&imported, trial.now());
        trial.import(ExportLine::Bucket(imported)).await;
        assert_eq!(trial.store().bucket().await.unwrap(), expected);
    }
    assert_eq!(expected, other);
}

/// Once: an article that another store handled, and whose entry retention removed there, is not handled here, and not polled.
pub async fn a_copy_of_an_article_that_was_removed_elsewhere_is_done_after_a_merge(
    trial: Trial<dyn Subject>,
) {
    trial.expect_now("job_0").await;
    trial.record("job_0", FIRST).await;
    let there = trial.job("job_0").await;
    trial.record("job_1", FIRST).await;
    trial.expect_now("job_2").await;
    let line = |id: &str| {
        let mut named = there.clone();
        named.job_id = job(id);
        job_line(named)
    };
    let lines = vec![line("job_1"), line("job_2")];
    trial.store().merge(Merge::RemovedJobs(lines)).await.unwrap();
    assert_eq!(trial.entry("job_1").await.state, State::Done);
    assert_eq!(trial.state("job_2").await, JobState::Arrived);
    assert_eq!(trial.record("job_2", FIRST).await, Recorded::Duplicate);
}

/// An article that could not be read here, and was handled in another store, is not polled.
pub async fn an_entry_that_is_done_elsewhere_ends_its_job(trial: Trial<dyn Subject>) {
    trial.expect_now("job_1").await;
    trial.record("job_1", FIRST).await;
    trial.work("job_1", unhandled(1)).await;
    assert_eq!(trial.state("job_1").await, JobState::Expected);
    let (entry, bodies) = trial.shown("job_1").await;
    let done = changed(entry, |entry| (entry.state, entry.cause) = (State::Done, None));
    trial.store().merge(Merge::Lines(vec![entry_line(done, bodies)])).await.unwrap();
    assert_eq!(trial.state("job_1").await, JobState::Arrived);
}

/// Only a store that was begun in place of another one waits for the end of the merge.
pub async fn the_end_of_a_merge_ends_no_pause_that_has_another_reason(trial: Trial<dyn Subject>) {
    trial.store().pause("ops@db1".into()).await.unwrap();
    trial.store().note_gaps().await.unwrap();
    let end = Merge::End { is_paused: false, has_gaps: false };
    trial.store().merge(end).await.unwrap();
    assert!(trial.store().paused_since().await.unwrap().is_some());
    assert!(trial.store().ledger_counts().await.unwrap().gaps_since.is_some());
}
