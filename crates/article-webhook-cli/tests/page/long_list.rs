//! Many entries, many arrivals, many open pages.

use std::time::{Duration, Instant};

use article_webhook::{
    Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{Inbox, SqliteStore};

use crate::{client::Visitor, running::Running, sample};

#[tokio::test]
async fn pages_follow_each_other_from_the_newest_to_the_oldest() {
    let deliveries = (0..120).map(|job| fixture::minimal().job_id(&format!("job_{job:03}")));
    let (_folder, _page, visitor) = Visitor::after(deliveries).await;
    let (mut path, mut rows) = ("/".to_owned(), Vec::new());
    loop {
        let shown = visitor.get(&path).await.text;
        rows.push(shown.matches("<tr id=\"entry-").count());
        let Some((before, _)) = shown.split_once("\" rel=\"next\"") else { break };
        let (_, next) = before.rsplit_once("href=\"").unwrap();
        path = visitor.below(next).replace("&amp;", "&");
    }
    assert_eq!(rows, [50, 50, 20]);
}

#[tokio::test]
async fn too_many_open_pages_are_refused_and_the_others_stay_live() {
    let (_folder, file) = sample::place();
    let page = Running::listen(&file);
    let visitor = Visitor::of(&page).await;
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(visitor.events().await);
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = visitor.events().await;
    assert_eq!(refused.status(), 503);
    assert!(refused.text().await.unwrap().contains("<h1>Too many pages are open</h1>"));
    streams.pop();
    let start = Instant::now();
    while visitor.events().await.status() != 200 {
        assert!(start.elapsed() < Duration::from_secs(10), "a closed page makes room");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(visitor.get("/").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_arrivals_are_few_events_and_take_no_memory() {
    let (_folder, file) = sample::place();
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    let (page, visitor) = Visitor::at(&file).await;
    let mut events = visitor.events().await;
    visitor.get("/").await;
    let (before, start) = (page.memory(), Instant::now());

    let filler = "x".repeat(16 * 1024);
    let body = move |job: &str| {
        let article = serde_json::json!({ "title": "One of many", "html": filler });
        serde_json::json!({ "job_id": job, "status": "complete", "article": article }).to_string()
    };
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..2000 {
        let (inbox, job) = (inbox.clone(), format!("job_{number}"));
        let request = DeliveryRequest::new(body(&job)).job_id(&job);
        calls.spawn(async move { inbox.accept(request.delivery().unwrap()).await });
        if calls.len() == 100 {
            calls.join_next().await;
        }
        if number % 200 == 0 {
            visitor.get("/").await;
        }
    }
    calls.join_all().await;
    let taken = start.elapsed();
    let mut events_text = String::new();
    let until = tokio::time::sleep(Duration::from_millis(800));
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => break,
            chunk = events.chunk() => events_text.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap())),
        }
    }
    let count = events_text.matches("event: change").count();
    let most = (taken.as_millis() + 800) / 300 + 2;
    assert!((1..=most).contains(&(count as u128)), "{count} events in {taken:?}");
    assert!(visitor.get("/").await.text.contains("One of many"));
    if let (Some(before), Some(after)) = (before, page.memory()) {
        assert!(after < before + 64 * 1024 * 1024, "{before} bytes became {after}");
    }
    inbox.close().await.unwrap();
}
