//! Articles that try to run, to load and to reach the page around them.

use std::time::{Duration, Instant};

use article_webhook::{
    Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::Inbox;
use serde_json::json;
use tokio::time::sleep;

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

/// What is clicked in an article.
const CLICKED: &str = "a, button, svg a, svg text, mtext, maction, input, summary";

/// Attempts that have no effect in this browser even where nothing confines them, and why. Another browser may differ.
const UNSEEN: [(&str, &str); 11] = [
    ("svg use", "it loads from its own origin alone"),
    ("mathml link", "no element of MathML leads anywhere"),
    ("mathml mutation", "it is inert until it is written out and parsed again"),
    ("icon", "without a window no icon is loaded"),
    ("manifest", "without a window no manifest is loaded"),
    ("frameset", "it is left out inside a body"),
    ("applet", "it is not known any more"),
    ("marquee", "its events are not known any more"),
    ("track", "it loads from its own origin alone"),
    ("portal and fenced frame", "they are not known"),
    ("title", "it is inert until it is written out and parsed again"),
];

/// How long an attempt has to succeed. What a browser loads for a page, it asks for within this time.
const GIVEN: Duration = Duration::from_millis(1500);

/// How long an attempt that must succeed may take.
const TIMEOUT: Duration = Duration::from_secs(20);

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
    browser.open_live(&page.url).await;
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
        browser.enter_frame().await;
        browser.click_all(CLICKED).await;
        sleep(Duration::from_millis(60)).await;
        assert_eq!(browser.close_others().await, 0, "{name}");
        assert_eq!(browser.url().await, url, "{name}");
        let title = browser.run("return document.title").await;
        assert!(title.as_str().unwrap().ends_with("· article-webhook"), "{name}: {title}");
        let reached =
            browser.run("return !!document.querySelector('iframe').contentDocument").await;
        assert_eq!(reached, false, "{name}: the frame is of the page's origin");
        assert_eq!(browser.console().await, [""; 0], "{name}");
    }
    sleep(GIVEN).await;
    assert_eq!((foreign.seen(), foreign.silent()), (vec![], 0));
    browser.end().await;
}

/// A page around an article. What is above it can be covered, and its ids can be taken.
fn around(article: &str) -> String {
    format!("<title>kept</title><h1>kept</h1>{article}<p id=connection>kept</p>")
}

/// What an article has done to the page around it, and beyond.
async fn effects(browser: &Browser, url: &str) -> Vec<&'static str> {
    const COVERED: &str = "const at = document.querySelector('h1').getBoundingClientRect(); \
        return document.elementFromPoint(at.x + 5, at.y + 5)?.tagName !== 'H1'";
    let mut effects = Vec::new();
    if browser.close_others().await > 0 {
        effects.push("a tab is open");
    }
    if browser.url().await != url {
        effects.push("the page is gone");
        return effects;
    }
    for (script, effect) in [
        ("return document.title !== 'kept'", "the title is another"),
        ("return document.getElementById('connection')?.tagName !== 'P'", "an id is taken"),
        (COVERED, "the page is covered"),
    ] {
        match browser.try_run(script).await {
            Ok(is_seen) if is_seen == true => effects.push(effect),
            Ok(_) => {}
            Err(_) => {
                effects.push("the page was left for another");
                break;
            }
        }
    }
    effects
}

/// The article's HTML as it came, under the headers and in the frame of the page: each wall holds without the one before.
#[tokio::test]
async fn the_frame_holds_what_the_removal_of_harmful_html_would_leave() {
    let Some(browser) = Browser::start().await else { return };
    let (foreign, counter) = (Foreign::start().await, Foreign::start().await);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = Inbox::open(&file).await.unwrap();
    inbox.accept(fixture::complete().job_id("job_1").delivery().unwrap()).await;
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

    let mut clicks = 0;
    for (number, (name, html)) in vectors(&counter.url).into_iter().enumerate() {
        let (outer, inner) = (format!("/outer/{number}"), format!("/inner/{number}"));
        foreign.serve(&inner, policy, &html);
        let frame = frame
            .replace("src=\"FRAME\"", &format!("src=\"{inner}\""))
            .replace("loading=\"lazy\"", "");
        foreign.serve(&outer, "frame-src 'self'", &around(&frame));
        let url = format!("{}{outer}", foreign.url);
        browser.open(&url).await;
        browser.enter_frame().await;
        clicks += browser.click_all(CLICKED).await;
        sleep(Duration::from_millis(60)).await;
        assert_eq!(effects(&browser, &url).await, [""; 0], "{name}");
    }
    assert!(clicks >= 12, "only {clicks} clicks");
    sleep(GIVEN).await;
    // `preconnect` is no request, and no policy forbids it: it is removed from the HTML.
    assert_eq!(counter.seen(), [""; 0]);
    browser.end().await;
}

/// Without a wall each attempt succeeds, and is seen: so the tests above can fail.
#[tokio::test]
async fn each_attempt_is_seen_to_succeed_where_nothing_confines_it() {
    let Some(browser) = Browser::start().await else { return };
    let (foreign, counter) = (Foreign::start().await, Foreign::start().await);
    let vectors = vectors(&counter.url);
    for (name, why) in UNSEEN {
        assert!(
            vectors.iter().any(|it| it.0 == name),
            "there is no {name}, which is named because: {why}"
        );
    }
    let seen = vectors.iter().filter(|it| UNSEEN.iter().all(|(name, _)| it.0 != *name));
    for (number, (name, html)) in seen.enumerate() {
        let path = format!("/{number}");
        foreign.serve(&path, "", &around(html));
        let url = format!("{}{path}", foreign.url);
        let silent = counter.silent();
        browser.open(&url).await;
        browser.click_all(CLICKED).await;
        let start = Instant::now();
        while effects(&browser, &url).await.is_empty()
            && counter.seen().is_empty()
            && counter.silent() <= silent
        {
            assert!(start.elapsed() < TIMEOUT, "{name} has no effect");
            sleep(Duration::from_millis(30)).await;
        }
        // What comes late is not taken for an effect of the next.
        browser.open("about:blank").await;
        sleep(Duration::from_millis(100)).await;
        counter.seen();
    }
    browser.end().await;
}
