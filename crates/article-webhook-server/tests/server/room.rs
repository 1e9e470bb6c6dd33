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

/// A little longer than newcomers have for their heads.
const MOMENT: Duration = Duration::from_millis(300);

/// An application whose work on `/` lasts until it is let go, and which says when one begins.
fn working() -> (Router, Arc<Notify>, mpsc::UnboundedReceiver<()>) {
    let (begun, begins) = mpsc::unbounded_channel();
    let let_go = Arc::new(Notify::new());
    let (gate, begun_too) = (let_go.clone(), begun.clone());
    let careless = any(async move || {
        begun_too.send(()).expect("the test listens");
        gate.notified().await;
    });
    let gate = let_go.clone();
    let work = any(async move |request: Request| {
        let body = request.into_body().collect().await.expect("it is complete").to_bytes();
        begun.send(()).expect("the test listens");
        gate.notified().await;
        body.len().to_string()
    });
    let app = Router::new().route("/", work).route("/quick", any(async || "quick"));
    (app.route("/careless", careless), let_go, begins)
}

fn quick() -> String {
    GET.replace("GET /", "GET /quick")
}

#[tokio::test]
async fn for_one_more_the_longest_without_a_head_gives_way() {
    let server = server().await.head_deadline(PATIENCE * 4).max_connections(3);
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

/// All come at once, each with a whole request, and there is room for two.
#[tokio::test]
async fn a_burst_is_answered_one_after_the_other() {
    let running = Running::start(server().await.max_connections(2), counting());
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

/// A sender on a slow network has connected, and its head is still on its way.
#[tokio::test]
async fn a_newcomer_is_given_time_for_its_head_while_bodies_are_stalled() {
    let (app, _let_go, _begins) = working();
    let running =
        Running::start(server().await.body_deadline(PATIENCE * 4).max_connections(3), app);
    let mut good = running.connect().await;
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut one = running.connect().await;
        one.send(post(10) + "abc").await;
        stalled.push(one);
    }
    sleep(MOMENT / 8).await;
    good.send(quick()).await;
    assert!(good.answer().await.ends_with("quick"));
}

#[tokio::test]
async fn nobody_gives_way_while_nobody_knocks() {
    let running =
        Running::start(server().await.head_deadline(PATIENCE * 4).max_connections(2), counting());
    let (mut one, mut two) = (running.connect().await, running.connect().await);
    sleep(HEAD).await;
    assert!(one.is_open().await && two.is_open().await);
}

#[tokio::test]
async fn an_unfinished_body_gives_way_after_the_heads_and_before_any_work() {
    let (app, let_go, mut begins) = working();
    let running =
        Running::start(server().await.body_deadline(PATIENCE * 4).max_connections(3), app);
    let mut at_work = running.connect().await;
    at_work.send(GET).await;
    soon(begins.recv()).await;
    let mut body = running.connect().await;
    body.send(post(10) + "abc").await;
    let mut head = running.connect().await;
    sleep(MOMENT).await;

    for first in [&mut head, &mut body] {
        assert!(first.is_open().await);
        let mut good = running.connect().await;
        good.send(GET).await;
        soon(begins.recv()).await;
        first.closed_after().await;
        std::mem::forget(good);
    }
    let_go.notify_waiters();
    assert!(at_work.answer().await.ends_with("0"));
}

#[tokio::test]
async fn work_that_wants_no_body_does_not_give_way_for_its_sake() {
    let (app, let_go, mut begins) = working();
    let running = Running::start(server().await.max_connections(1), app);
    let mut at_work = running.connect().await;
    at_work.send(post(10).replace("POST /", "POST /careless") + "abc").await;
    soon(begins.recv()).await;
    let mut next = running.connect().await;
    next.send(quick()).await;
    sleep(HEAD / 4).await;
    assert!(at_work.is_open().await && next.is_open().await);
    let_go.notify_waiters();
    assert!(at_work.rest().await.starts_with("HTTP/1.1 200"));
    assert!(next.answer().await.ends_with("quick"));
}

#[tokio::test]
async fn when_all_are_at_work_the_next_waits_at_the_door() {
    let (app, let_go, mut begins) = working();
    let running = Running::start(server().await.max_connections(2), app);
    let mut at_work = [running.connect().await, running.connect().await];
    for peer in &mut at_work {
        peer.send(GET).await;
        soon(begins.recv()).await;
    }
    let mut next = running.connect().await;
    next.send(quick()).await;
    sleep(HEAD * 2).await; // longer than a head may take: its time begins when it is let in
    assert!(next.is_open().await);
    let_go.notify_waiters();
    assert!(next.answer().await.ends_with("quick"));
    for peer in &mut at_work {
        assert!(peer.answer().await.ends_with("0"));
    }
}

#[tokio::test]
async fn those_that_left_are_not_asked_to_leave() {
    let running =
        Running::start(server().await.head_deadline(PATIENCE * 4).max_connections(2), counting());
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
async fn a_storm_of_idle_connections_does_not_lock_the_door() {
    let server = server().await.head_deadline(PATIENCE * 4).max_connections(20);
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
    assert!((15..=20).contains(&open), "{open} of the last are still inside");
}
