use std::sync::Arc;

use article_webhook::{Sink as _, fixture::DeliveryRequest};
use article_webhook_collector::Collector;
use article_webhook_inbox::{EntryKey, JobState, State};

use crate::{
    api::{Reply, Script, article},
    world::{DAY, HOUR, MINUTE, SECOND, World, key, order},
};

/// The titles of the articles that a handler gets.
async fn titles(world: &World) -> Vec<String> {
    let titles = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&titles);
    let worker = world.inbox.worker(move |job| {
        seen.lock().unwrap().push(job.article().unwrap().article.title.clone());
        async { Ok(()) }
    });
    worker.run_until_idle().await.unwrap();
    std::mem::take(&mut *titles.lock().unwrap())
}

/// What the service says about a job that it gave up is kept for the application as it came.
#[tokio::test]
async fn a_failed_job_ends_with_what_the_service_reported() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    let failed = r#"{"error":"generation_failed","message":"","details":{"step":"outline"}}"#;
    world.api.on_poll(|_| Reply::Says(500, "", failed.to_owned()));
    world.poll_after(HOUR, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Failed);
    let job_id = world.job("job_1").await.job_id;
    assert_eq!(world.stored(EntryKey::failure(job_id)).await.unwrap(), failed);
    assert_eq!(world.stored(key("job_1")).await, None);

    // It is opened again by a person, and ends with its article.
    world.api.on_poll(Reply::complete);
    world.expect(&collector, &["job_1"]).await;
    world.poll_after(HOUR, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
}

/// The document does not say how a failed job is reported. The commonest form ends it at its second answer.
#[tokio::test]
async fn a_failure_in_another_form_ends_a_job_when_a_second_answer_says_the_same() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    let failed = |status: &str| format!(r#"{{"job_id":"job_1","status":"{status}"}}"#);
    for (status, state, cause) in [
        ("writing", JobState::Expected, "the job is not complete, its status is \"writing\""),
        ("failed", JobState::Expected, "the service says that the job has failed: \"failed\""),
        ("writing", JobState::Expected, "the job is not complete, its status is \"writing\""),
        ("failed", JobState::Expected, "the service says that the job has failed: \"failed\""),
        ("failed", JobState::Failed, "the service says that the job has failed: \"failed\""),
    ] {
        world.api.polls_say(&failed(status));
        world.poll_after(HOUR, &collector).await;
        let job = world.job("job_1").await;
        assert_eq!((job.state, job.cause.as_deref()), (state, Some(cause)), "shown at once");
    }
    assert_eq!(
        world.stored(EntryKey::failure("job_1".parse().unwrap())).await.unwrap(),
        failed("failed")
    );
}

/// What a delivery says counts as the first of the two.
#[tokio::test]
async fn a_failure_that_was_delivered_ends_a_job_when_one_answer_says_the_same() {
    let world = World::new();
    let failed = r#"{"job_id":"job_1","status":"failed"}"#;
    let delivery = DeliveryRequest::new(failed).header("X-Service-Job-Id", "job_1").delivery();
    let delivery = delivery.unwrap();
    assert_eq!(world.inbox.accept(delivery).await, article_webhook::Reply::Stored);
    assert_eq!(world.stored(key("job_1").quarantine()).await.unwrap(), failed);

    world.api.polls_say(failed);
    world.poll_after(MINUTE, &world.collector()).await;
    let job = world.job("job_1").await;
    assert_eq!((job.state, job.polls), (JobState::Failed, 1));
    assert_eq!(world.stored(EntryKey::failure(job.job_id)).await.unwrap(), failed);
    assert_eq!(
        world.stored(key("job_1").quarantine()).await,
        None,
        "nothing is left to be read there"
    );
}

/// An answer that cannot be read ends nothing, and is not thrown away: it may be the only copy of the article.
#[tokio::test]
async fn an_answer_that_cannot_be_read_is_in_quarantine_until_a_good_one_comes() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    let cut = article("job_1").replace("}}", "");
    let of_another = article("job_2");
    let failed = article("job_1").replace("complete", "failed");
    let with_code =
        article("job_1").replace(r#""article""#, r#""error":"plan_required","article""#);
    let two_titles = article("job_1").replace(r#""title":"#, r#""title":"","title":"#);
    let nameless = article("job_1").replace("job_id", "id");
    for (body, cause) in [
        (
            &cut,
            "the body is malformed JSON: EOF while parsing an object at article.word_count, line 1 column 161",
        ),
        (&of_another, "the answer is about another job"),
        (&failed, "status: the service reports a failure, `failed`"),
        (&with_code, "error: the service reports a failure, `plan_required`"),
        (&two_titles, "the body is malformed JSON: a key twice at article.title, line 1 column 75"),
        (&nameless, "job_id: expected a job id, found nothing"),
    ] {
        world.api.polls_say(body);
        world.poll_after(HOUR, &collector).await;
        let job = world.job("job_1").await;
        assert_eq!(
            (job.state, job.cause.as_deref()),
            (JobState::Expected, Some(cause)),
            "the ledger says it, too"
        );
        let (entry, bodies) = world.inbox.show(key("job_1").quarantine()).await.unwrap().unwrap();
        assert_eq!(entry.state, State::Quarantined);
        assert_eq!(entry.cause.as_deref(), Some(cause));
        assert!(bodies.iter().any(|kept| kept.bytes.as_deref() == Some(body.as_bytes())));
        // No worker is given it.
        world
            .inbox
            .worker(|_| async { panic!("no body is an article") })
            .run_until_idle()
            .await
            .unwrap();
        assert_eq!(world.inbox.show(key("job_1")).await.unwrap(), None);
    }
    world.api.on_poll(Reply::complete);
    world.poll_after(HOUR, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
    assert_eq!(world.inbox.show(key("job_1").quarantine()).await.unwrap(), None);
}

/// As one whose body cannot be decoded: what an answer names is not a proxy's.
#[tokio::test]
async fn a_job_of_which_only_refused_answers_came_for_72_hours_is_unreadable() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.api.polls_say(&article("job_1").replace("complete", "failed"));
    for _ in 0..100 {
        world.poll_after(HOUR, &collector).await;
    }
    let job = world.job("job_1").await;
    assert_eq!((job.state, job.polls), (JobState::Unreadable, 73));
    let cause = "for 72 hours the API has given no body that can be read";
    assert_eq!(job.cause.as_deref(), Some(cause));
    assert!(world.stored(key("job_1").quarantine()).await.is_some());

    // A version that reads what this one does not: it is as if it had refused an article.
    world
        .inbox
        .keep_answer(&job.job_id, &article("job_1").into(), "an older version".to_owned())
        .await;
    assert_eq!(titles(&world).await, ["Shoes"]);
    assert_eq!(world.state("job_1").await, JobState::Collected);
    assert_eq!(world.stored(key("job_1").quarantine()).await, None);
}

#[tokio::test]
async fn a_draft_is_collected_when_a_minute_later_it_is_the_same() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    let draft =
        |title: &str| article("job_1").replace("complete", "published").replace("Shoes", title);
    for (title, waits, state) in [
        ("Draft", HOUR, JobState::Expected),
        ("Shoes", 60 * SECOND, JobState::Expected),
        ("Shoes", HOUR, JobState::Collected),
    ] {
        assert_eq!(world.stored(key("job_1")).await, None);
        world.api.polls_say(&draft(title));
        world.poll_after(waits, &collector).await;
        assert_eq!(world.state("job_1").await, state);
    }
    assert_eq!(world.stored(key("job_1")).await.unwrap(), draft("Shoes"));
    assert_eq!(titles(&world).await, ["Shoes"]);
}

/// As a delivery is: half an emoji costs no article.
#[tokio::test]
async fn an_answer_that_must_be_repaired_is_collected_as_it_came_and_handled_repaired() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    let half = article("job_1").replace("Shoes", r"Sho\ud83c");
    world.api.polls_say(&half);
    world.poll_after(HOUR, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
    assert_eq!(world.stored(key("job_1")).await.unwrap(), half);
    assert_eq!(titles(&world).await, ["Sho\u{fffd}"]);
    assert_eq!(world.inbox.counts().await.unwrap().of(State::Done), 1);
}

/// A body that cannot be decoded is kept. It is no article: the job is polled each hour, and ends if nothing has changed
/// in 72 hours. An outage of the API that is shorter does not end it.
#[tokio::test]
async fn a_body_that_cannot_be_read_is_kept_for_a_person() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    let unreadable = r#"{"job_id":"job_1","status":"complete","article":"moved"}"#;
    world.api.polls_say(unreadable);
    for (hours, state, after_the_worker) in [
        (2, JobState::Collected, JobState::Expected),
        (1, JobState::Expected, JobState::Expected),
        (70, JobState::Expected, JobState::Expected),
        (1, JobState::Unreadable, JobState::Unreadable),
    ] {
        world.poll_after(hours * HOUR, &collector).await;
        assert_eq!(world.state("job_1").await, state);
        world.inbox.worker(|_| async { Ok(()) }).run_until_idle().await.unwrap();
        assert_eq!(world.state("job_1").await, after_the_worker);
    }
    assert_eq!(world.stored(key("job_1")).await.unwrap(), unreadable);
    world.poll_after(30 * DAY, &collector).await;
    assert_eq!(world.api.polled().len(), 4);
}

/// It takes days, several answers, and other jobs that the service knows: a key of another environment knows none.
#[tokio::test]
async fn a_job_is_not_found_only_if_others_are() {
    let (world, collector) = World::expecting(&["job_lost"]).await;
    for _ in 0..10 {
        world.poll_after(DAY, &collector).await;
    }
    assert_eq!(world.state("job_lost").await, JobState::Expected);

    world.api.on_poll(|job| match job {
        "job_lost" => Reply::lost(),
        other => Reply::complete(other),
    });
    world.expect(&collector, &["job_1"]).await;
    for _ in 0..2 {
        world.poll_after(DAY, &collector).await;
    }
    let job = world.job("job_lost").await;
    assert_eq!(job.state, JobState::NotFound);
    assert_eq!(job.cause.as_deref(), Some("job_not_found (404): no such job"));
    // A delivery opens it again.
    world.deliver("job_lost", None).await;
    assert_eq!(world.state("job_lost").await, JobState::Arrived);
}

/// The key of another account has orders of its own, and knows none of the jobs of this one: it ends no job of this one.
#[tokio::test]
async fn a_key_with_orders_of_its_own_ends_no_job_of_another_key() {
    let world = World::new();
    let collector = world.collector();
    assert!(order(&collector, "post-17").await.job_id().is_some());
    let other = Script::with_key(world.clock.clone(), 18);
    let other_collector =
        Collector::builder(&world.inbox, other.clone()).rate(1_000_000, 1_000_000).build().unwrap();
    other.on_poll(move |job| match job {
        "job_1" => Reply::lost(),
        its_own => Reply::complete(its_own),
    });
    for day in 2..12 {
        other.on_order(move || Reply::created(&format!("job_{day}")));
        assert!(order(&other_collector, &format!("post-{day}")).await.job_id().is_some());
        world.poll_after(DAY, &other_collector).await;
        assert_eq!(world.state(&format!("job_{day}")).await, JobState::Collected);
    }
    let job = world.job("job_1").await;
    assert_eq!((job.state, job.missing), (JobState::Expected, None));
    let cause = "job_not_found (404): no such job (the job is known to another API key: is this one right?)";
    assert_eq!(job.cause.as_deref(), Some(cause));
    world.api.on_poll(Reply::complete);
    world.poll_after(DAY, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
}
