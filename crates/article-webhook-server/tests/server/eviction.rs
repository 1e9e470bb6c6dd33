use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, extract::Request, routing::any};
use http_body_util::BodyExt;
use tokio::{
    sync::{Notify, mpsc},
    time::sleep,
};

use crate::common::*;

/// A little longer than new connections are safe from eviction.
const GRACE: Duration = Duration::from_millis(300);

/// An application that processes requests to `/` until it is released, and reports when one begins.
fn working() -> (Router, Arc<Notify>, mpsc::UnboundedReceiver<()>) {
    let (begun, begins) = mpsc::unbounded_channel();
    let release = Arc::new(Notify::new());
    let (gate, begun_too) = (release.clone(), begun.clone());
    let ignores_body = any(async move || {
        begun_too.send(()).expect("the test listens");
        gate.notified().await;
    });
    let gate = release.clone();
    let work = any(async move |request: Request| {
        let body = request.into_body().collect().await.expect("it is complete").to_bytes();
        begun.send(()).expect("the test listens");
        gate.notified().await;
        body.len().to_string()
    });
    let app = Router::new().route("/", work).route("/quick", any(async || "quick"));
    (app.route("/ignores_body", ignores_body), release, begins)
}

fn quick() -> String {
    GET.replace("GET /", "GET /quick")
}

#[tokio::test]
async fn the_connection_that_waits_longest_for_a_head_is_evicted_first() {
    let server = server().head_deadline(PATIENCE * 4).max_connections(3);
    let running = Running::start(server, counting());
    let mut silent = running.connect().await;
    let mut half = running.connect().await;
    half.send("GET / HT").await;
    let mut idle = running.connect().await;
    idle.send(GET).await;
    assert!(idle.answer().await.starts_with("HTTP/1.1 200"));

    let mut good_ones = Vec::new();
    for oldest in [&mut silent, &mut half, &mut idle] {
        assert!(oldest.is_open().await);
        let mut good = running.connect().await;
        good.send(post(3) + "abc").await;
        assert!(good.answer().await.ends_with("3"));
        oldest.closed_after().await;
        good_ones.push(good); // idle now, and the youngest
    }
}

/// All connect at once, each with a whole request, and there are two slots.
#[tokio::test]
async fn every_request_of_a_burst_is_answered() {
    let running = Running::start(server().max_connections(2), counting());
    let mut burst = Vec::new();
    for _ in 0..20 {
        let mut one = running.connect().await;
        one.send(post(3).replace("Host:", "Connection: close\r\nHost:") + "abc").await;
        burst.push(one);
    }
    for mut one in burst {
        assert!(one.answer().await.ends_with("3"));
    }
}

/// A sender on a slow network has connected, and its head has not arrived yet.
#[tokio::test]
async fn a_new_connection_has_time_for_its_head_while_bodies_are_stalled() {
    let (app, _release, _begins) = working();
    let running = Running::start(server().body_deadline(PATIENCE * 4).max_connections(3), app);
    let mut good = running.connect().await;
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut one = running.connect().await;
        one.send(post(10) + "abc").await;
        stalled.push(one);
    }
    sleep(GRACE / 8).await;
    good.send(quick()).await;
    assert!(good.answer().await.ends_with("quick"));
}

#[tokio::test]
async fn no_connection_is_evicted_while_none_waits() {
    let running =
        Running::start(server().head_deadline(PATIENCE * 4).max_connections(2), counting());
    let (mut one, mut two) = (running.connect().await, running.connect().await);
    sleep(HEAD).await;
    assert!(one.is_open().await && two.is_open().await);
}

#[tokio::test]
async fn an_unfinished_body_is_evicted_after_the_heads_and_before_any_request_in_progress() {
    let (app, release, mut begins) = working();
    let running = Running::start(server().body_deadline(PATIENCE * 4).max_connections(3), app);
    let mut in_progress = running.connect().await;
    in_progress.send(GET).await;
    soon(begins.recv()).await;
    let mut body = running.connect().await;
    body.send(post(10) + "abc").await;
    let mut head = running.connect().await;
    sleep(GRACE).await;

    for first in [&mut head, &mut body] {
        assert!(first.is_open().await);
        let mut good = running.connect().await;
        good.send(GET).await;
        soon(begins.recv()).await;
        first.closed_after().await;
        std::mem::forget(good);
    }
    release.notify_waiters();
    assert!(in_progress.answer().await.ends_with("0"));
}

#[tokio::test]
async fn a_request_whose_service_ignores_the_body_is_not_evicted() {
    let (app, release, mut begins) = working();
    let running = Running::start(server().max_connections(1), app);
    let mut in_progress = running.connect().await;
    in_progress.send(post(10).replace("POST /", "POST /ignores_body") + "abc").await;
    soon(begins.recv()).await;
    let mut next = running.connect().await;
    next.send(quick()).await;
    sleep(HEAD / 4).await;
    assert!(in_progress.is_open().await && next.is_open().await);
    release.notify_waiters();
    assert!(in_progress.rest().await.starts_with("HTTP/1.1 200"));
    assert!(next.answer().await.ends_with("quick"));
}

#[tokio::test]
async fn when_all_requests_are_in_progress_the_next_connection_waits() {
    let (app, release, mut begins) = working();
    let running = Running::start(server().max_connections(2), app);
    let mut in_progress = [running.connect().await, running.connect().await];
    for peer in &mut in_progress {
        peer.send(GET).await;
        soon(begins.recv()).await;
    }
    let mut next = running.connect().await;
    next.send(quick()).await;
    sleep(HEAD * 2).await; // longer than a head may take: its deadline begins when it is accepted
    assert!(next.is_open().await);
    release.notify_waiters();
    assert!(next.answer().await.ends_with("quick"));
    for peer in &mut in_progress {
        assert!(peer.answer().await.ends_with("0"));
    }
}

#[tokio::test]
async fn connections_that_have_ended_are_not_evicted() {
    let running =
        Running::start(server().head_deadline(PATIENCE * 4).max_connections(2), counting());
    for _ in 0..100 {
        let mut passing = running.connect().await;
        passing.send(post(3) + "abc").await;
        assert!(passing.answer().await.ends_with("3"));
    }
    let (_one, _two) = (running.connect().await, running.connect().await);
    let start = Instant::now();
    let mut good = running.connect().await;
    good.send(GET).await;
    assert!(good.answer().await.ends_with("0"));
    assert!(start.elapsed() < PATIENCE / 2, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_flood_of_idle_connections_does_not_keep_out_deliveries() {
    let server = server().head_deadline(PATIENCE * 4).max_connections(20);
    let running = Running::start(server, counting());
    let mut idle = Vec::new();
    for _ in 0..50 {
        for _ in 0..10 {
            idle.push(running.connect().await);
        }
        let mut good = running.connect().await;
        good.send(post(3) + "abc").await;
        assert!(good.answer().await.ends_with("3"));
    }
    let mut open = 0;
    for peer in idle.iter_mut().rev().take(40) {
        open += usize::from(peer.is_open().await);
    }
    assert!((15..=20).contains(&open), "{open} of the last are still open");
}
