//! What a collector logs and counts. A process of its own: the subscriber is global, because log events of a thread without
//! one can hide those of another.
#![allow(clippy::unwrap_used)] // an unwrap here is the assertion
#![allow(dead_code)] // the other target uses the rest

#[path = "../collector/api.rs"]
mod api;
#[path = "../../../article-webhook-inbox/tests/metrics/recorder.rs"]
mod recorder;
#[path = "../collector/world.rs"]
mod world;

use std::{collections::BTreeSet, sync::Arc};

use article_webhook::CapabilityKey;
use article_webhook_collector::{Collector, metric};
use article_webhook_inbox_contract::{faulty::Fault, log_buffer::LogBuffer};

use crate::{
    api::Reply,
    recorder::Recorder,
    world::{DAY, HOUR, SECOND, World, order},
};

/// Everything that a collector reports happens once. `INTENT`, `BODY` and `WEBHOOK` occur where it must not show them.
async fn everything(world: &World) {
    let key = CapabilityKey::new(b"0123456789abcdef0123456789abcdef").unwrap();
    let builder = world.builder().rate(1_000_000, 1_000_000).concurrency(1);
    let collector = builder.webhook_urls(key, "https://WEBHOOK.example").build().unwrap();
    orders(world, &collector).await;
    polls(world, &collector).await;
    world.ledger.fault("PollClaim", Fault::Takes(6 * SECOND));
    world.expect(&collector, &["job_late"]).await;
    world.poll_after(HOUR, &collector).await;
    // Some orders are unknown by now.
    collector.clone().run(tokio::time::sleep(HOUR)).await.unwrap();
    collector.health().await.unwrap();
}

async fn orders(world: &World, collector: &Collector) {
    for (post, reply) in [
        Reply::created("job_ordered"),
        Reply::Unanswered,
        Reply::status(402),
        Reply::status(401),
        Reply::Says(429, "7200", String::new()),
        Reply::Says(429, "", String::new()),
        Reply::Says(429, "18446744073709551615", String::new()),
        Reply::Echoes(502),
    ]
    .into_iter()
    .enumerate()
    {
        world.api.on_order(move || reply.clone());
        _ = order(collector, &format!("INTENT-{post}")).await;
        _ = order(collector, &format!("INTENT-{post}")).await;
        collector.resume().await.unwrap();
    }
    world.api.on_order(|| Reply::created("job_unnoted"));
    world.ledger.fault("Ordered", Fault::Fails(1));
    _ = order(collector, "INTENT-9").await;
    tokio::time::sleep(HOUR).await;
    world.clock.advance(HOUR);
    assert!(collector.abandon("INTENT-1").await.unwrap());
    _ = order(collector, "INTENT-1").await;
}

async fn polls(world: &World, collector: &Collector) {
    world
        .expect(collector, &["job_failed", "job_queued", "job_busy", "job_panics", "job_odd"])
        .await;
    let body = |job: &str| Reply::Says(200, "", crate::api::article(job).replace("Shoes", "BODY"));
    let mut busy = vec![Reply::Says(503, "7200", String::new())];
    let failed = r#"{"error":"generation_failed","message":""}"#;
    world.api.on_poll(move |job| match job {
        "job_failed" => Reply::Says(500, "", failed.to_owned()),
        "job_queued" | "job_late" => {
            Reply::Says(200, "", r#"{"status":"queued","title":"BODY"}"#.to_owned())
        }
        "job_busy" => busy.pop().unwrap_or(Reply::queued()),
        "job_panics" => Reply::Panics,
        "job_odd" => Reply::Says(
            200,
            "",
            r#"{"job_id":"job_odd","status":"complete","article":"BODY"}"#.to_owned(),
        ),
        other => body(other),
    });
    world.ledger.fault("PollClaim", Fault::Fails(1));
    world.ledger.fault("SettlePoll", Fault::Late(HOUR));
    for _ in 0..5 {
        world.poll_after(DAY, collector).await;
        collector.resume().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn alarms_are_logged_without_intents_bodies_and_urls() {
    let log = Arc::new(LogBuffer::new());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(Arc::clone(&log));
    subscriber.init();
    everything(&World::new()).await;
    let log = log.text();
    for secret in ["INTENT", "BODY", "WEBHOOK", "5f2b9c0e7a1d4e38"] {
        assert!(!log.contains(secret), "{secret}");
    }
    let alarms = include_str!("alarms.txt").lines();
    assert_eq!(alarms.clone().count(), 16);
    for alarm in alarms {
        let (level, event) = alarm.split_once(' ').unwrap();
        let is_logged = |line: &str| {
            line.contains(&format!("{level} article_webhook_collector: ")) && line.contains(event)
        };
        assert!(log.lines().any(is_logged), "{alarm}: {log}");
    }
    for line in log.lines() {
        let is_wrong = line.contains("pause=0ns") || line.contains("18446744073709551615");
        assert!(!is_wrong, "{line}");
        assert!(!(line.contains("article collected") && line.contains("job_odd")), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_metric_is_described_and_counted() {
    let recorder = Recorder::default();
    let guard = metrics::set_default_local_recorder(&recorder);
    metric::describe();
    everything(&World::new()).await;
    drop(guard);
    let kinds = recorder.series().into_iter();
    let counted: BTreeSet<_> = kinds
        .map(|series| (series.name, series.kind))
        .filter(|(name, _)| name.starts_with("article_collector_"))
        .collect();
    let described = recorder.described().into_iter();
    let described: BTreeSet<_> = described.map(|(name, (kind, _))| (name, kind)).collect();
    assert_eq!(counted, described);
    for (name, label, times) in [
        (metric::ORDERS, "ordered", 2.0),
        (metric::ORDERS, "unknown", 4.0),
        (metric::ORDERS, "refused", 7.0),
        (metric::ORDERS, "abandoned", 1.0),
        (metric::KEY_REFUSALS, "", 1.0),
        (metric::ENDED, "collected", 2.0),
        (metric::ENDED, "failed", 1.0),
        (metric::LOST_LEASES, "", 1.0),
        (metric::POLLS, "unavailable", 1.0),
        (metric::LOST_TOKENS, "", 1.0),
    ] {
        assert_eq!(recorder.count(name, label), times, "{name} {label}");
    }
    assert_eq!(recorder.values(metric::OVERDUE, "").last(), Some(&3.0));
    // Of the three bodies that the API gave, one is no article.
    assert_eq!(recorder.values(metric::COLLECTED_AFTER, "").len(), 2);
}
