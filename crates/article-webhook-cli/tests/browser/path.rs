//! The paths that a person takes.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::{Inbox, SqliteStore};

use crate::{
    driver::Browser,
    running::{Running, TOKEN},
    scene,
};

/// When what happens must be seen.
const SOON: Duration = Duration::from_secs(1);

const IS_LIVE: &str = "return document.getElementById('connection')?.dataset.state === 'on'";

#[tokio::test]
async fn a_newcomer_sees_the_first_article() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let listening = Running::listen(&folder.path().join("inbox.db"));
    browser.open(&listening.url).await;
    browser.wait(IS_LIVE).await;
    assert_eq!(
        browser.url().await,
        format!("{}/", listening.base),
        "the key is not in the address any more"
    );
    let command = browser.run("return document.querySelector('.empty code').textContent").await;
    assert_eq!(command, format!("article-webhook send {}", listening.receiver));

    // The command that the page shows.
    let mut words = command.as_str().unwrap().split(' ').skip(1);
    let mut send = Command::new(env!("CARGO_BIN_EXE_article-webhook"));
    send.args(words.by_ref()).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    assert!(send.output().unwrap().status.success());
    browser.wait("return document.querySelectorAll('#list tbody tr').length === 1").await;
    let title = browser.run("return document.querySelector('td.what .title').textContent").await;
    assert_eq!(title, "How to Choose Running Shoes");
    let counts =
        browser.wait("return document.querySelector('.states .count').textContent === '1'").await;
    assert_eq!(counts, true);

    browser.click("td.what a").await;
    browser
        .wait("return document.querySelector('h1')?.textContent === 'How to Choose Running Shoes'")
        .await;
    browser.wait(IS_LIVE).await;
    let body = browser.run("return document.querySelector('pre.json').textContent").await;
    assert!(body.as_str().unwrap().contains("\"title\": \"How to Choose Running Shoes\""));
    browser.click(".crumbs a").await;
    browser.wait("return document.querySelectorAll('#list tbody tr').length === 1").await;
    assert_eq!(browser.console().await, [""; 0]);
    browser.end().await;
}

#[tokio::test]
async fn an_arrival_is_seen_within_a_second_and_moves_no_column() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    scene::inbox(&file).await;
    // The receiver is this process, and the page another.
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    let page = Running::page(&file, &[]);
    browser.open(&page.url).await;
    browser.wait(IS_LIVE).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    let places = "return [...document.querySelectorAll('#list th, .states a')].map(e => { \
        const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })";
    let before = browser.run(places).await;
    let mut times = Vec::new();
    for number in 0..5 {
        let start = Instant::now();
        let job = format!("job_new_{number}");
        let request = fixture::complete().job_id(&job);
        assert_eq!(inbox.accept(request.delivery().unwrap()).await, Reply::Stored);
        let first =
            format!("return document.querySelector('#list tbody tr .job').textContent === '{job}'");
        browser.wait(&first).await;
        times.push(start.elapsed());
        // Longer than the pause between two readings of a page.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // The machine may have stopped for a moment.
    times.sort();
    assert!(times[2] < SOON, "{times:?}");
    assert_eq!(browser.run(places).await, before);
    let fresh = browser.run("return document.querySelectorAll('tr.fresh').length").await;
    assert_eq!(fresh, 5);
    let heights = browser.run("return new Set([...document.querySelectorAll('#list tbody tr')].map(e => e.offsetHeight)).size").await;
    assert_eq!(heights, 1, "every row is as high as the others");
    assert_eq!(browser.console().await, [""; 0]);
    inbox.close().await.unwrap();
    browser.end().await;
}

#[tokio::test]
async fn an_entry_is_requeued_and_another_replayed() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    scene::inbox(&file).await;
    let page = Running::page(&file, &[]);
    browser.open(&page.url).await;
    browser.wait(IS_LIVE).await;
    for (state, button) in [("dead", "Requeue"), ("unhandled", "Requeue"), ("done", "Replay")] {
        browser.open(&format!("{}/?state={state}", page.base)).await;
        browser.click("td.what a").await;
        browser.wait("return !!document.querySelector('#state button')").await;
        assert_eq!(
            browser.run("return document.querySelector('#state button').textContent").await,
            button
        );
        browser.click("#state button").await;
        browser
            .wait("return document.querySelector('.notice')?.textContent.includes('the entry is due now')")
            .await;
        let now = browser.run("return document.querySelector('#state .badge').textContent").await;
        assert_eq!(now, "waiting", "{state}");
    }
    assert_eq!(browser.console().await, [""; 0]);
    browser.end().await;
}

#[tokio::test]
async fn eight_tabs_show_the_page_though_a_browser_has_six_connections() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = Running::listen(&folder.path().join("inbox.db"));
    browser.open(&page.url).await;
    browser.wait(IS_LIVE).await;
    for _ in 1..8 {
        browser.tab().await;
        browser.open(&format!("{}/", page.base)).await;
        browser.wait(IS_LIVE).await;
    }
    browser.end().await;
}

#[tokio::test]
async fn the_keyboard_alone_is_enough() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    scene::inbox(&file).await;
    let page = Running::page(&file, &[]);
    browser.open(&page.url).await;
    browser.wait(IS_LIVE).await;
    browser.open(&format!("{}/?state=dead", page.base)).await;
    browser.wait(IS_LIVE).await;
    let (tab, enter) = ("\u{e004}", "\u{e007}");
    browser.press(tab).await;
    assert_eq!(
        browser.run("return document.activeElement.textContent").await,
        "Skip to the content"
    );
    browser.press(enter).await;
    tab_to(&browser, "td.what a").await;
    let outline = browser.run("return getComputedStyle(document.activeElement).outlineStyle").await;
    assert_eq!(outline, "solid", "the focus is seen");
    browser.press(enter).await;
    browser.wait("return !!document.querySelector('#state button')").await;
    browser.wait(IS_LIVE).await;
    tab_to(&browser, "#state button").await;
    browser.press(enter).await;
    browser
        .wait("return document.querySelector('.notice')?.textContent.includes('Requeued')")
        .await;
    browser.end().await;
}

async fn tab_to(browser: &Browser, css: &str) {
    for _ in 0..40 {
        browser.press("\u{e004}").await;
        let is_there = format!("return document.activeElement.matches('{css}')");
        if browser.run(&is_there).await == true {
            return;
        }
    }
    panic!("{css} is not reached by the keyboard");
}

#[tokio::test]
async fn everything_is_read_and_a_button_works_without_javascript() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    scene::inbox(&file).await;
    let page = Running::page(&file, &[]);
    let off = serde_json::json!({ "value": true });
    browser.chromium("Emulation.setScriptExecutionDisabled", off).await;
    browser.open(&page.url).await;
    browser.until_url(&format!("{}/", page.base)).await;
    browser.click("a[data-state=dead]").await;
    browser.click("td.what a").await;
    browser.click("#state button").await;
    browser
        .until_url(&format!(
            "{}/entry/job%5F64d4083e/article%2Ecomplete?done=requeued&list=state%3Ddead",
            page.base
        ))
        .await;
    browser.end().await;
}
