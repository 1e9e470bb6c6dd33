//! The worker as a model. The real one runs each handler on a thread of its own, which no seed replays. This one makes the
//! same calls of the store in the same order: it claims, decodes the first body that is an article, runs the handler, and
//! settles.

use std::{sync::Arc, time::Duration};

use article_webhook::ArticleResult;
use article_webhook_inbox::{
    Body, EntryKey, Error,
    store::{Claim, Claimed, Events, Outcome, Store},
};
use bytes::Bytes;
use tokio::time::{sleep, timeout};

use crate::{
    forge::is_forged,
    store::Connection,
    world::{HOUR, MINUTE, SECOND, World, span},
};

const CLAIM: Claim = Claim {
    limit: 4,
    lease: MINUTE,
    attempts: 1000,
    running: 0,
    events: Events::All,
    retries_first: false,
};

pub(crate) async fn work(world: Arc<World>, store: Connection) {
    let mut failures = 0;
    loop {
        let until = store.now() + CLAIM.lease;
        let pause = match store.claim(CLAIM).await {
            Err(error) => {
                check(&world, &error);
                failures += 1;
                MINUTE.min(SECOND * failures)
            }
            Ok(claims) => {
                failures = 0;
                let next = claims.next_due;
                for claimed in claims.claimed {
                    // The real worker begins nothing under a lease that has ended.
                    if store.now() < until {
                        attempt(&world, &store, claimed).await;
                    }
                }
                let wait = |next: std::time::SystemTime| next.duration_since(world.time());
                next.map_or(HOUR, |next| wait(next).unwrap_or_default())
            }
        };
        let pause = pause.clamp(SECOND, HOUR);
        match failures {
            0 => _ = timeout(pause, world.changed.notified()).await,
            _ => sleep(pause).await,
        }
        sleep(SECOND / 100).await;
    }
}

fn check(world: &World, error: &Error) {
    if !error.is_transient() {
        world.fail(&format!("the worker ended: {error}"));
    }
}

/// Runs the handler for one entry, and stores the outcome.
async fn attempt(world: &World, store: &Connection, claimed: Claimed) {
    let Claimed { lease, key, mut bodies, attempt, .. } = claimed;
    let seen = bodies.len();
    bodies.sort_by_key(Body::is_by_capability);
    let is_vouched = bodies.iter().any(|body| !body.is_by_capability() && is_read(&key, body));
    let bodies: Vec<Bytes> = bodies.into_iter().filter_map(|body| body.bytes).collect();
    let mut bodies = bodies.into_iter();
    let body = if key.is_article() {
        bodies.find(|bytes| is_article_of(&key, bytes))
    } else if key == EntryKey::failure(key.job_id.clone()) {
        bodies.next()
    } else {
        None
    };
    let outcome = match body {
        Some(bytes) if is_vouched && is_forged(key.job_id.as_str(), &bytes) => {
            return world.fail(&format!("{key} has an article, and a forged one is handled"));
        }
        Some(bytes) => handle(world, &key, &bytes, attempt).await,
        None => Outcome::Unhandled { seen, cause: "nothing handles it".to_owned() },
    };
    for pause in [1, 10, 60] {
        match store.settle(lease, outcome.clone()).await {
            Ok(_) => return,
            Err(error) => check(world, &error),
        }
        sleep(pause * SECOND).await;
    }
}

fn is_read(key: &EntryKey, body: &Body) -> bool {
    body.bytes.as_ref().is_some_and(|bytes| is_article_of(key, bytes))
}

fn is_article_of(key: &EntryKey, bytes: &[u8]) -> bool {
    ArticleResult::from_json(bytes).is_ok_and(|article| article.job_id == key.job_id)
}

/// The handler of the application: it fails now and then, and may take longer than its lease.
async fn handle(world: &World, key: &EntryKey, bytes: &[u8], attempt: u32) -> Outcome {
    let id = key.job_id.as_str();
    world.note(&format!("the handler of {key} begins, attempt {attempt}"));
    if key.is_article() {
        world.seen(|observed, _| observed.handling(id));
        if !world.is_article_of(id, bytes) && !is_forged(id, bytes) {
            world.fail(&format!("the article of {id} is not what the service finished"));
        }
    } else if !world.has_failed(id) {
        world.fail(&format!("{id} is handled as failed, and the service never said so"));
    }
    let have_ended = world.with(|inner| inner.faults.have_ended);
    let (fails, takes) = world.draw(|rng| (rng.u8(..8) == 0, rng.u8(..16)));
    if !have_ended && takes == 0 {
        let time = world.draw(|rng| span(rng, SECOND, 2 * MINUTE));
        sleep(time).await;
    }
    match fails && !have_ended {
        true => Outcome::Retry { after: Duration::from_secs(30), cause: "drawn".to_owned() },
        false => Outcome::Done,
    }
}
