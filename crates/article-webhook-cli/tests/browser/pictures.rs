//! What the page looks like. The picture of the README is one of the screenshots, `list_light_1280.png`, made smaller.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{
    Filter, SqliteStore, State, Topic,
    store::{BucketSettings, Intended, PollClaim, PollOutcome, Store},
};

use crate::{axe::Axe, driver::Browser, operator, running::Running, scene};

#[tokio::test]
async fn the_page_is_shown_in_light_and_dark_wide_and_narrow() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = env::var_os("BROWSER_SCREENSHOTS").map(PathBuf::from);
    let Some(browser) = Browser::start().await else { return };
    let axe = Axe::get();
    let (full, empty) = (folder.path().join("inbox.db"), folder.path().join("empty.db"));
    scene::inbox(&full).await;
    let page = Running::page(&full, &[]);
    let broken = folder.path().join("broken.db");
    let inbox = operator::broken(&broken).await;
    let other = fixture::complete().job_id("job_00").title("Another title").delivery().unwrap();
    assert_eq!(inbox.accept(other).await, Reply::Duplicate);
    let dead = Filter { state: Some(State::Dead), ..Filter::default() };
    let requeued = inbox.requeue_first(dead, 3).await.unwrap().at.unwrap();
    let requeued = requeued.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let broken = Running::page(&broken, &[]);
    let fresh = Running::listen(&empty);
    let refusing = Running::listen(&folder.path().join("refusing.db"));
    operator::refused(&refusing).await;
    let ordered = folder.path().join("ordered.db");
    orders(&ordered).await;
    let ordered = Running::page(&ordered, &[]);
    let demo = Running::demo(&folder.path().join("demo.db"));
    for Running { url, base, .. } in [&page, &broken, &fresh, &refusing, &ordered, &demo] {
        browser.open(url).await;
        browser.wait(&format!("return location.href === '{base}/'")).await;
    }
    let places = [
        ("list", format!("{}/", page.base)),
        ("entry", format!("{}/entry/job_7c1e4a52/article.complete", page.base)),
        ("dead", format!("{}/?state=dead", page.base)),
        ("groups", format!("{}/", broken.base)),
        ("failed", format!("{}/entry/job_01/article.complete?list=state%3Ddead", broken.base)),
        ("result", format!("{}/?requeued={requeued}", broken.base)),
        ("other_body", format!("{}/entry/job_00/article.complete?body=2", broken.base)),
        ("refusals", format!("{}/refused", refusing.base)),
        ("ledger", format!("{}/ledger", page.base)),
        ("orders", format!("{}/ledger", ordered.base)),
        ("refused", format!("{}/refused", fresh.base)),
        ("health", format!("{}/health", page.base)),
        ("empty", format!("{}/", fresh.base)),
        ("demo", format!("{}/", demo.base)),
        ("empty_ledger", format!("{}/ledger", fresh.base)),
        ("not_found", format!("{}/entry/job_none/article.complete", page.base)),
        ("no_key", format!("{}/?state=dead", page.base.replace("127.0.0.1", "localhost"))),
    ];
    browser.open(&format!("{}/", demo.base)).await;
    browser.click("#panel button").await;
    browser.wait("return !!document.querySelector('#list tbody tr')").await;
    let mut violations = Vec::new();
    let all = [("light", 1280), ("dark", 360), ("dark", 1280), ("light", 360)];
    // Each scheme and each width is in the first two. The other two are for people.
    let shown = if pictures.is_some() { &all[..] } else { &all[..2] };
    for &(scheme, width) in shown {
        browser.scheme(scheme).await;
        browser.size(width, 900).await;
        for (name, url) in &places {
            browser.open(url).await;
            if *name == "dead" {
                browser.click("td.what a").await;
                browser.wait("return !!document.querySelector('.heading h1')").await;
            }
            if *name != "no_key" {
                browser
                    .wait("return document.getElementById('connection').dataset.state === 'on'")
                    .await;
            }
            if let Some(axe) = &axe {
                let found = axe.violations(&browser).await;
                let found = found.iter().map(|it| format!("{name}, {scheme}, {width} px: {it}"));
                violations.extend(found);
            }
            let wide =
                browser.run("return document.documentElement.scrollWidth > innerWidth").await;
            assert_eq!(wide, false, "{name} is wider than {width} px");
            if let Some(folder) = &pictures {
                fs::create_dir_all(folder).unwrap();
                screenshot(&browser, width, &folder.join(format!("{name}_{scheme}_{width}.png")))
                    .await;
            }
        }
    }
    assert_eq!(violations, [""; 0]);
    browser.end().await;
}

/// Of the whole page, without the marks of what is new.
async fn screenshot(browser: &Browser, width: u32, file: &Path) {
    browser
        .run("document.querySelectorAll('.fresh').forEach(e => e.classList.remove('fresh'))")
        .await;
    let height = browser.run("return document.documentElement.scrollHeight").await;
    let height = u32::try_from(height.as_u64().unwrap()).unwrap();
    browser.size(width, height.clamp(600, 2400)).await;
    browser.screenshot(file).await;
    browser.size(width, 900).await;
}

/// A ledger of three orders: one is open, one ended without an article, and of one the outcome is unknown.
async fn orders(file: &Path) {
    let store = SqliteStore::open(file).unwrap();
    let (minute, now) = (Duration::from_secs(60), SystemTime::now());
    let bucket = BucketSettings { per_minute: 30, burst: 5, key: 7 };
    let topic = |text: &str| {
        Topic::of(&format!("{text}, and everything else that one should know. ").repeat(4))
    };
    for (name, job, about) in [("post-17", "job_1", "Running shoes"), ("post-18", "job_2", "Knees")]
    {
        store.intend(name, minute, bucket.key, topic(about)).await.unwrap();
        store.ordered(name, job.parse().unwrap(), now, bucket.key).await.unwrap();
    }
    let polls = store.claim_polls(PollClaim { limit: 1, lease: minute, bucket }).await.unwrap();
    let cause = "job_not_found (404): There is no job of that job_id.".to_owned();
    let outcome = PollOutcome::NotFound { cause };
    store.settle_poll(polls.polls[0].lease, outcome, bucket.key).await.unwrap();
    let lost = store.intend("post-19", minute, bucket.key, topic("Hats")).await.unwrap();
    let Intended::Begun(lease) = lost else { panic!("{lost:?}") };
    assert!(store.outcome_lost(lease).await.unwrap());
    store.close().await.unwrap();
}
