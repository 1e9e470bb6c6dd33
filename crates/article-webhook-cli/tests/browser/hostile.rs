//! Articles that try to run, to load and to reach the page around them. `tests/page` holds what the frame of an article and its
//! headers say.

use std::time::Duration;

use article_webhook::{Reply, Sink, fixture::DeliveryRequest};
use article_webhook_inbox::Inbox;
use serde_json::json;
use tokio::time::sleep;

use crate::{driver::Browser, foreign::Foreign, running::Running};

/// The name and the HTML of each attempt.
fn vectors(url: &str) -> Vec<(String, String)> {
    let lines = include_str!("hostile.txt").lines().filter(|line| !line.starts_with('#'));
    let vectors = lines.map(|line| line.split_once('\t').unwrap());
    vectors.map(|(name, html)| (name.to_owned(), html.replace("URL", url))).collect()
}

/// How long an attempt has to succeed. What a browser loads for a page, it asks for within this time.
const GIVEN: Duration = Duration::from_millis(1500);

#[tokio::test]
async fn a_hostile_article_runs_nothing_and_loads_nothing() {
    let Some(browser) = Browser::start().await else { return };
    let foreign = Foreign::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = Inbox::open(&file).await.unwrap();
    // Each alone, so that none hides the next, and all together.
    let mut vectors = vectors(&foreign.url);
    assert!(vectors.len() >= 60);
    let all = vectors.iter().map(|(_, html)| format!("<p>before</p>{html}\n")).collect();
    vectors.push(("all together".to_owned(), all));
    for (number, (_, html)) in vectors.iter().enumerate() {
        let job = format!("job_{number}");
        let body = json!({
            "job_id": job, "status": "complete",
            "article": { "title": html, "html": format!("<p>An article.</p>{html}"), "meta_description": html },
        });
        let request = DeliveryRequest::new(body.to_string()).job_id(&job);
        assert_eq!(inbox.accept(request.delivery().unwrap()).await, Reply::Stored);
    }
    inbox.close().await.unwrap();

    let page = Running::page(&file, &[]);
    browser.open_live(&page.url).await;
    assert_eq!(browser.console().await, [""; 0], "the list");
    browser.run("console.error('heard')").await;
    assert_eq!(browser.console().await.len(), 1, "what is written to the console is heard");
    for (number, (name, _)) in vectors.iter().enumerate() {
        let url = format!("{}/entry/job_{number}/article.complete", page.base);
        browser.open(&url).await;
        // A frame loads when it is in sight.
        browser.run("document.querySelector('iframe').scrollIntoView()").await;
        let loaded = "return performance.getEntriesByType('resource').some(e => e.name.includes('/article/'))";
        browser.wait(loaded).await;
        sleep(Duration::from_millis(60)).await;
        assert_eq!(browser.url().await, url, "{name}");
        let title = browser.run("return document.title").await;
        assert!(title.as_str().unwrap().ends_with("· article-webhook"), "{name}: {title}");
        let reached =
            browser.run("return !!document.querySelector('iframe').contentDocument").await;
        assert_eq!(reached, false, "{name}: the frame is of the page's origin");
        assert_eq!(browser.console().await, [""; 0], "{name}");
    }
    sleep(GIVEN).await;
    assert_eq!(foreign.seen(), [""; 0]);
    browser.end().await;
}
