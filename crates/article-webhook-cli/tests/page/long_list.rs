//! Many entries, many open pages.

use std::time::{Duration, Instant};

use article_webhook::fixture;

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
