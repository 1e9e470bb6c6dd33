use std::time::Duration;

use article_webhook_collector::Schedule;
use article_webhook_inbox::{JobState, store::Recorded};
use article_webhook_inbox_contract::faulty::Fault;

use crate::{
    api::{Reply, article},
    world::{DAY, HOUR, MINUTE, SECOND, World, key, order},
};

/// Polls at each time at which a job is due, for this long.
async fn poll_for(world: &World, collector: &article_webhook_collector::Collector, time: Duration) {
    let end = world.clock.now() + time;
    loop {
        collector.run_until_idle().await.unwrap();
        let page = world.inbox.jobs(article_webhook_inbox::JobFilter::default()).await.unwrap();
        let open = page.items.iter().filter(|job| job.state.is_open());
        let Some(due) = open.map(|job| job.at).min().filter(|due| *due <= end) else { break };
        let step = due.duration_since(world.clock.now()).unwrap_or_default();
        world.clock.advance(step.max(Duration::from_millis(1)));
    }
    world.clock.advance(end.duration_since(world.clock.now()).unwrap_or_default());
}

#[tokio::test]
async fn an_article_that_was_not_delivered_is_collected_byte_for_byte() {
    let world = World::new();
    let collector = world.collector();
    assert!(order(&collector, "post-17").await.job_id().is_some());
    world.api.on_poll(Reply::complete);
    world.poll_after(10 * MINUTE - SECOND, &collector).await;
    assert!(world.api.polled().is_empty(), "the service may still deliver");
    world.poll_after(SECOND, &collector).await;
    assert_eq!(world.api.polled(), ["job_1"]);
    assert_eq!(world.state("job_1").await, JobState::Collected);
    assert_eq!(world.stored(key("job_1")).await.unwrap(), article("job_1").as_bytes());
    assert_eq!(world.deliver("job_1", None).await, Recorded::Duplicate);
    world.poll_after(DAY, &collector).await;
    assert_eq!(world.api.polled().len(), 1);
}

/// The first poll after ten minutes; each pause at most half as long again, and at least half of that; an hour at most; after
/// 72 hours once a day, and for ever.
#[tokio::test]
async fn a_job_is_polled_as_the_schedule_says() {
    let world = World::new();
    let collector = world.collector();
    world.api.on_poll(|_| Reply::queued());
    let start = world.clock.now();
    world.expect(&collector, &["job_1"]).await;
    poll_for(&world, &collector, 30 * DAY).await;

    let polled = world.api.polled_at();
    assert_eq!(polled[0], start + 10 * MINUTE);
    let mut longest = 15.0 * 60.0;
    for pair in polled.windows(2) {
        let pause = pair[1].duration_since(pair[0]).unwrap().as_secs_f64();
        if pair[0] < start + 3 * DAY {
            assert!(
                (longest / 2.0 - 0.01..=longest + 0.01).contains(&pause),
                "{pause} of {longest}"
            );
        } else {
            assert!((86_400.0..86_401.0).contains(&pause), "{pause}");
        }
        longest = (longest * 1.5).min(3600.0);
    }
    let daily = polled.iter().filter(|at| **at > start + 4 * DAY).count();
    assert_eq!(daily, 26);
    assert_eq!(world.job("job_1").await.state, JobState::Expected);
    assert_eq!(collector.health().await.unwrap().ledger.counts.overdue, 1);
}

#[tokio::test]
async fn polling_begins_after_20_seconds() {
    let world = World::new();
    let collector = world.builder().schedule(Schedule::polling()).build().unwrap();
    world.api.on_poll(Reply::complete);
    world.expect(&collector, &["job_1"]).await;
    world.poll_after(20 * SECOND, &collector).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
}

/// Each of these jobs gets no article, and none keeps the others from theirs.
#[tokio::test(start_paused = true)]
async fn one_bad_job_does_not_stop_the_others() {
    let world = World::new();
    let collector = world.collector();
    let bad = ["job_panics", "job_hangs", "job_page", "job_other", "job_cut", "job_failing"];
    let good = ["job_1", "job_2", "job_3"];
    world.expect(&collector, &bad).await;
    world.expect(&collector, &good).await;
    world.api.on_poll(|job| match job {
        "job_panics" => Reply::Panics,
        "job_hangs" => Reply::Hangs,
        "job_page" => Reply::Says(200, "", "<html>".to_owned()),
        "job_other" => Reply::complete("job_1"),
        "job_cut" => Reply::Unanswered,
        "job_failing" => Reply::status(500),
        good => Reply::complete(good),
    });
    let start = tokio::time::Instant::now();
    world.poll_after(HOUR, &collector).await;
    assert_eq!(start.elapsed().as_secs(), 31, "a call that hangs is dropped");
    for job in good {
        assert_eq!(world.state(job).await, JobState::Collected, "{job}");
    }
    let cause = world.job("job_hangs").await.cause;
    assert_eq!(cause.as_deref(), Some("the call took longer than its time limit"));
    for job in bad {
        let job = world.job(job).await;
        assert_eq!(job.state, JobState::Expected, "{}", job.job_id);
        assert!(job.at > world.clock.now() && job.cause.is_some(), "{}", job.job_id);
        assert_eq!(world.stored(key(job.job_id.as_str())).await, None);
    }
}

#[tokio::test]
async fn as_many_polls_are_under_way_as_the_settings_say() {
    let world = World::new();
    for concurrency in [1, 3] {
        let builder = world.builder().rate(1_000_000, 1_000_000).concurrency(concurrency);
        let collector = builder.build().unwrap();
        for job in 0..20 {
            let job = format!("job_{concurrency}_{job}");
            collector.expect(job.parse().unwrap()).await.unwrap();
        }
        world.api.on_poll(Reply::complete);
        world.poll_after(HOUR, &collector).await;
        assert_eq!(world.api.most_under_way(), concurrency);
    }
    assert_eq!(world.api.polled().len(), 40);
}

#[tokio::test(start_paused = true)]
async fn an_article_is_kept_although_the_store_fails_for_some_time() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.api.on_poll(Reply::complete);
    world.clock.advance(HOUR);
    world.ledger.fault("PollClaim", Fault::Fails(3));
    world.ledger.fault("SettlePoll", Fault::Fails(5));
    collector.run_until_idle().await.unwrap();
    assert_eq!((world.state("job_1").await, world.api.polled().len()), (JobState::Collected, 1));
}

/// The store answers after the lease has ended. Nothing is stored, and the job is due again.
#[tokio::test(start_paused = true)]
async fn a_job_whose_outcome_could_not_be_kept_is_polled_again() {
    let (world, collector) = World::expecting(&["job_1"]).await;
    world.api.on_poll(Reply::complete);
    world.clock.advance(HOUR);
    world.ledger.fault("SettlePoll", Fault::Late(2 * MINUTE));
    collector.run_until_idle().await.unwrap();
    let job = world.job("job_1").await;
    assert_eq!((job.state, job.polls), (JobState::Collected, 2));
}

/// Jobs that another process expects are found by looking, those of this process at once.
#[tokio::test(start_paused = true)]
async fn a_running_collector_finds_new_jobs() {
    let world = World::new();
    let schedule = Schedule::new(Duration::from_millis(1), HOUR).unwrap();
    let [collector, other] = [(); 2].map(|()| world.builder().schedule(schedule).build().unwrap());
    world.api.on_poll(Reply::complete);
    let running = tokio::spawn(collector.clone().run(tokio::time::sleep(HOUR)));
    tokio::time::sleep(SECOND).await;
    assert_eq!(collector.health().await.unwrap().running, 1);

    world.expect(&collector, &["job_1"]).await;
    world.pass(Duration::from_millis(50), Duration::from_millis(10)).await;
    assert_eq!(world.state("job_1").await, JobState::Collected);
    world.expect(&other, &["job_2"]).await;
    world.pass(11 * SECOND, SECOND).await;
    assert_eq!(world.state("job_2").await, JobState::Collected);
    running.await.unwrap().unwrap();
    assert_eq!(collector.health().await.unwrap().running, 0);
}

/// Once an hour, and at the end.
#[tokio::test(start_paused = true)]
async fn a_collector_that_runs_counts_its_ledger_every_hour() {
    let world = World::new();
    let before = world.ledger.calls("CountLedger");
    world.collector().run(tokio::time::sleep(3 * HOUR + MINUTE)).await.unwrap();
    assert_eq!(world.ledger.calls("CountLedger"), before + 4);
}
