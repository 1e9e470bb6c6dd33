//! Articles that try to run, to load and to reach the page around them.

use std::time::Duration;

use article_inbox::Inbox;
use article_webhook::{Reply, Sink, fixture::DeliveryRequest};
use serde_json::json;

use crate::{driver::Browser, foreign::Foreign, running::Running};

const VECTORS: &str = include_str!("hostile.txt");

/// The name and the HTML of each attempt.
fn vectors(url: &str) -> Vec<(String, String)> {
    let lines = VECTORS.lines().filter(|line| !line.starts_with('#'));
    let vectors = lines.map(|line| line.split_once('\t').unwrap());
    let vectors: Vec<_> =
        vectors.map(|(name, html)| (name.to_owned(), html.replace("URL", url))).collect();
    assert!(vectors.len() >= 25);
    vectors
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
    let vectors = vectors(&foreign.url);
    // Each alone, so that none hides the next, and all together.
    let all: String = vectors.iter().map(|(_, html)| format!("<p>before</p>{html}\n")).collect();
    let articles = vectors.iter().map(|(_, html)| html).chain([&all]);
    for (number, html) in articles.enumerate() {
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
    browser.open(&page.url).await;
    browser.wait("return document.getElementById('connection')?.dataset.state === 'on'").await;
    assert_eq!(browser.console().await, [""; 0], "the list");
    browser.run("console.error('heard')").await;
    assert_eq!(browser.console().await.len(), 1, "what is written to the console is heard");
    for (number, name) in
        vectors.iter().map(|(name, _)| name.as_str()).chain(["all together"]).enumerate()
    {
        let url = format!("{}/entry/job_{number}/article.complete", page.base);
        browser.open(&url).await;
        // A frame loads when it is in sight.
        browser.run("document.querySelector('iframe').scrollIntoView()").await;
        let loaded = "return performance.getEntriesByType('resource').some(e => e.name.includes('/article/'))";
        browser.wait(loaded).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(browser.url().await, url, "{name}");
        let title = browser.run("return document.title").await;
        assert!(title.as_str().unwrap().ends_with("· article-webhook"), "{name}: {title}");
        let reached =
            browser.run("return !!document.querySelector('iframe').contentDocument").await;
        assert_eq!(reached, false, "{name}: the frame is of the page's origin");
        assert_eq!(browser.console().await, [""; 0], "{name}");
    }
    tokio::time::sleep(GIVEN).await;
    assert_eq!(foreign.seen(), [""; 0]);
    browser.end().await;
}

/// The article's HTML as it came, under the headers and in the frame of the page: each wall holds without the one before.
#[tokio::test]
async fn the_frame_holds_what_the_removal_of_harmful_html_would_leave() {
    let Some(browser) = Browser::start().await else { return };
    let (foreign, counter) = (Foreign::start().await, Foreign::start().await);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = Inbox::open(&file).await.unwrap();
    inbox.accept(DeliveryRequest::complete().job_id("job_1").delivery().unwrap()).await;
    inbox.close().await.unwrap();
    let page = Running::page(&file, &[]);
    browser.open(&page.url).await;
    browser.wait(&format!("return location.href === '{}/'", page.base)).await;
    let entry = format!("{}/entry/job_1/article.complete", page.base);
    browser.open(&entry).await;
    let policy = browser
        .run(&format!(
            "return fetch('{entry}/article/1').then(a => a.headers.get('content-security-policy'))"
        ))
        .await;
    let frame = browser
        .run("const f = document.querySelector('iframe'); f.src = 'FRAME'; return f.outerHTML")
        .await;
    let (policy, frame) = (policy.as_str().unwrap(), frame.as_str().unwrap());

    for (number, (name, html)) in vectors(&counter.url).iter().enumerate() {
        let (outer, inner) = (format!("/outer/{number}"), format!("/inner/{number}"));
        foreign.serve(&inner, &format!("content-security-policy: {policy}\r\n"), html);
        let frame = frame
            .replace("src=\"FRAME\"", &format!("src=\"{inner}\""))
            .replace("loading=\"lazy\"", "");
        foreign.serve(
            &outer,
            "content-security-policy: frame-src 'self'\r\n",
            &format!("<title>kept</title>{frame}"),
        );
        browser.open(&format!("{}{outer}", foreign.url)).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert_eq!(browser.run("return document.title").await, "kept", "{name}");
        assert_eq!(browser.url().await, format!("{}{outer}", foreign.url), "{name}");
    }
    tokio::time::sleep(GIVEN).await;
    // `preconnect` is no request, and no policy forbids it: it is removed from the HTML.
    let seen = counter.seen();
    assert!(seen.iter().all(String::is_empty), "{seen:?}");

    let image = format!("<img src=\"{}/control.png\">", counter.url);
    foreign.serve("/control", "", &image);
    browser.open(&format!("{}/control", foreign.url)).await;
    assert_eq!(counter.seen(), ["GET /control.png HTTP/1.1"], "what is loaded is counted");
    browser.end().await;
}
