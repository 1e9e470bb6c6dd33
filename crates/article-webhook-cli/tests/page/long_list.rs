//! A list of a hundred thousand entries. The figures of a million are in the evidence.

use std::time::{Duration, Instant};

use article_inbox::{Inbox, SqliteStore};
use article_webhook::{Sink, fixture::DeliveryRequest};

use crate::{client::Visitor, running::Running};

#[tokio::test]
async fn pages_follow_each_other_from_the_newest_to_the_oldest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..120 {
        let inbox = inbox.clone();
        let job = format!("job_{number:03}");
        calls.spawn(async move {
            inbox.accept(DeliveryRequest::minimal().job_id(&job).delivery().unwrap()).await
        });
    }
    calls.join_all().await;
    inbox.close().await.unwrap();

    let page = Running::page(&file, &[]);
    let visitor = Visitor::of(&page).await;
    let (mut path, mut rows) = ("/".to_owned(), Vec::new());
    loop {
        let shown = visitor.get(&path).await.text;
        rows.push(shown.matches("<tr id=\"entry-").count());
        let Some((before, _)) = shown.split_once("\" rel=\"next\"") else { break };
        let (_, next) = before.rsplit_once("href=\"").unwrap();
        path = next.replace("&amp;", "&");
    }
    assert_eq!(rows, [50, 50, 20]);
}

#[tokio::test]
async fn too_many_open_pages_are_refused_and_the_others_stay_live() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let page = Running::listen(&file);
    let visitor = Visitor::of(&page).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let open = async || {
        let request = client.get(format!("{}/events", page.base));
        request
            .header("cookie", &visitor.cookie)
            .header("sec-fetch-site", "same-origin")
            .send()
            .await
            .unwrap()
    };
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(open().await);
    }
    assert!(streams.iter().all(|stream| stream.status() == 200));
    assert_eq!(open().await.status(), 503);
    streams.pop();
    let start = Instant::now();
    while open().await.status() != 200 {
        assert!(start.elapsed() < Duration::from_secs(10), "a closed page makes room");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(visitor.get("/").await.status, 200);
}
