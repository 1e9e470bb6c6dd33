//! What the application and its operator do while things go wrong.

use std::sync::Arc;

use article_webhook_client::{JobId, NewArticle};
use article_webhook_inbox::{Prune, store::Store};
use bytes::Bytes;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    api::request,
    deliver::{forge_failure, send, send_undecodable},
    faults::any_api_fault,
    node::Running,
    world::{Account, DAY, HOUR, Key, SECOND, World, span},
};

/// One thing after the other, until the time is over.
pub(crate) async fn run_script(world: Arc<World>) {
    let mut tasks = JoinSet::new();
    if world.plan.key == Key::Another {
        tasks.spawn(use_another_key(Arc::clone(&world)));
    }
    while world.now() < world.plan.span {
        let most = (world.plan.span / 16).max(2 * SECOND);
        let pause = world.draw(|rng| span(rng, SECOND / 10, most));
        sleep(pause).await;
        let event = world.draw(|rng| rng.u8(..32));
        match event {
            0..=11 => {
                let again = world.draw(|rng| rng.u8(..3) == 0);
                let count = if again { 3 } else { 1 };
                for _ in 0..count {
                    tasks.spawn(order(Arc::clone(&world)));
                }
            }
            12 | 13 => _ = tasks.spawn(expect(Arc::clone(&world))),
            14..=22 => fail_something(&world),
            23 | 24 => erase(&world).await,
            25 => prune(&world).await,
            26 | 27 => _ = tasks.spawn(deliver_again(Arc::clone(&world))),
            28 => suspend(&world),
            29 => resume(&world).await,
            _ => note_states(&world).await,
        }
        while tasks.try_join_next().is_some() {}
    }
}

/// The key of another account is used for longer than the time after which a job counts as not found.
async fn use_another_key(world: Arc<World>) {
    let (begin, time) = world.draw(|rng| (span(rng, HOUR, DAY), span(rng, 75 * HOUR, 5 * DAY)));
    sleep(begin).await;
    let until = (world.now() + time).min(world.plan.span);
    world.note(&format!("the key of another account is used until {until:?}"));
    world.with(|inner| inner.faults.other_key = until);
    world.restart_all();
    sleep(until.saturating_sub(world.now())).await;
    world.note("the right key is used again");
    world.restart_all();
}

/// Orders, gives up, or orders again. Some callers hang up.
async fn order(world: Arc<World>) {
    let Some(Running { collector, .. }) = world.any_node() else { return };
    let (number, what, limit) = world.draw(|rng| {
        let limit = (rng.u8(..4) == 0).then(|| span(rng, SECOND / 100, 30 * SECOND));
        (rng.u32(..world.plan.intents), rng.u8(..12), limit)
    });
    let intent = format!("post-{number}");
    let article = NewArticle::new(&intent).field("bytes", 600.into());
    let article = match number % 5 {
        3 => article.field("fail_at", "draft".into()),
        _ => article,
    };
    if what == 0 {
        let outcome = timeout(limit.unwrap_or(HOUR), collector.abandon(&intent)).await;
        return world.note(&format!("{intent} is given up: {outcome:?}"));
    }
    let before = world.with(|inner| inner.observed.orders_sent(&intent));
    let call = async {
        match what {
            1 | 2 => collector.order_again(&intent, &article).await,
            _ => collector.order(&intent, &article).await,
        }
    };
    let outcome = timeout(limit.unwrap_or(HOUR), call).await;
    world.note(&format!("{intent} ({what}): {outcome:?}"));
    if let Ok(Ok(outcome)) = &outcome {
        world.seen(|observed, _| observed.reported(&intent, before, outcome));
    }
}

/// Expects jobs that were ordered elsewhere, and some that never were.
async fn expect(world: Arc<World>) {
    let (count, what) = world.draw(|rng| (rng.u8(1..=6), rng.u8(..8)));
    let jobs: Vec<JobId> = match what {
        0 => vec![format!("job_lost_{count}").parse().expect("it is an id")],
        _ => (0..count).filter_map(|_| order_elsewhere(&world, "elsewhere")).collect(),
    };
    let Some(Running { collector, .. }) = world.any_node() else { return };
    if what < 4 {
        for job in jobs {
            let outcome = collector.expect(job.clone()).await;
            world.note(&format!("{job} is expected: {outcome:?}"));
        }
    } else {
        let outcome = collector.expect_all(jobs.clone()).await;
        world.note(&format!("{jobs:?} are expected: {outcome:?}"));
    }
}

/// An order that the collector knows nothing of.
pub(crate) fn order_elsewhere(world: &World, topic: &str) -> Option<JobId> {
    let order = format!(r#"{{"topic":"{topic}","bytes":600}}"#);
    let account = Account::Ours;
    let sent = request(account, "POST", "/v1/content/articles", order.clone());
    let response = world.service(|service, now| service.call(now, &sent));
    let job = world.taken(account, &order, response.body());
    job.parse().ok()
}

/// Begins an outage.
fn fail_something(world: &World) {
    let now = world.now();
    let (what, until, api_fault) = world.draw(|rng| {
        let api_fault = any_api_fault(rng);
        (rng.u8(..6), now + span(rng, SECOND, 3 * DAY), api_fault)
    });
    world.note(&format!("outage {what} until {until:?}, {api_fault:?}"));
    let until = until.min(world.plan.span);
    world.with(|inner| match what {
        0 => inner.faults.store[0] = until,
        1 => inner.faults.store = [until; 2],
        2 | 3 => inner.faults.receiver = until,
        _ => inner.faults.api = (api_fault, until),
    });
}

async fn erase(world: &World) {
    let jobs: Vec<_> = world.with(|inner| inner.observed.taken.keys().cloned().collect());
    let job = world.draw(|rng| rng.choice(jobs));
    let (Some(job), Some(node)) = (job, world.any_node()) else { return };
    let job = job.parse::<JobId>().expect("it is an id");
    let outcome = timeout(10 * SECOND, node.inbox.erase(job.clone())).await;
    world.note(&format!("{job} is erased: {outcome:?}"));
}

/// Retention, as far as a run of some days has any.
async fn prune(world: &World) {
    let Some(node) = world.any_node() else { return };
    let now = world.time();
    let prune = Prune {
        bodies_before: now - HOUR,
        entries_before: now - 2 * HOUR,
        limit: 100,
        ..Prune::default()
    };
    let pruned = timeout(10 * SECOND, node.inbox.prune(prune)).await;
    let kept = world.draw(|rng| span(rng, 3 * HOUR, 2 * DAY));
    let ledger = timeout(10 * SECOND, node.store.prune_ledger(now - kept, 100)).await;
    world.note(&format!("pruned: {pruned:?}, {ledger:?}"));
}

/// An old delivery comes once more, or with a header that forges a failure, or with bodies that are no article.
async fn deliver_again(world: Arc<World>) {
    let what = world.draw(|rng| rng.u8(..4));
    let pushes = world.with(|inner| inner.observed.pushes.clone());
    let Some(push) = world.draw(|rng| rng.choice(pushes)) else { return };
    match what {
        0 | 1 => forge_failure(&world, &push).await,
        2 => _ = send(&world, &push, |_, body: Bytes| body).await,
        _ => {
            for _ in 0..6 {
                send_undecodable(&world, &push).await;
            }
        }
    }
}

fn suspend(world: &World) {
    let time = world.draw(|rng| span(rng, SECOND, DAY));
    world.note(&format!("the machines are suspended for {time:?}"));
    world.suspend(time);
}

async fn resume(world: &World) {
    let Some(node) = world.any_node() else { return };
    let outcome = timeout(10 * SECOND, node.collector.resume()).await;
    world.note(&format!("resumed: {outcome:?}"));
}

/// Notes the states of the jobs in the ledger.
pub(crate) async fn note_states(world: &World) {
    let (jobs, _) = world.ledger().await;
    world.with(|inner| inner.observed.states.extend(jobs.iter().map(|job| job.state)));
}
