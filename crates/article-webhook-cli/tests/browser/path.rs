//! The paths that a person takes.

use std::{path::PathBuf, process::Command, time::Duration};

use article_webhook::{Reply, Sink, fixture};
use article_webhook_inbox::Inbox;
use tempfile::TempDir;

use crate::{
    driver::{Browser, IS_LIVE},
    running::Running,
    scene,
    tool::TOKEN,
};

/// A browser with the page of an inbox, that inbox, and its folder.
pub(crate) async fn shown() -> Option<(Browser, Running, PathBuf, TempDir)> {
    let browser = Browser::start().await?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    scene::inbox(&file).await;
    let page = Running::page(&file, &[]);
    browser.open_live(&page.url).await;
    Some((browser, page, file, folder))
}

#[tokio::test]
async fn a_newcomer_sees_the_first_article() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let listening = Running::listen(&folder.path().join("inbox.db"));
    browser.open_live(&listening.url).await;
    assert_eq!(
        browser.url().await,
        format!("{}/", listening.base),
        "the key is not in the address any more"
    );
    let command = browser.text(".empty code").await;
    assert_eq!(command, format!("article-webhook send {}", listening.receiver));

    // The command that the page shows.
    let mut words = command.split(' ').skip(1);
    let mut send = Command::new(env!("CARGO_BIN_EXE_article-webhook"));
    send.args(words.by_ref()).env("ARTICLE_WEBHOOK_TOKEN", TOKEN);
    assert!(send.output().unwrap().status.success());
    browser.wait_for_count("#list tbody tr", 1).await;
    let title = browser.text("td.what .title").await;
    assert_eq!(title, "How to Choose Running Shoes");
    let counts =
        browser.wait("return document.querySelector('.states .count').textContent === '1'").await;
    assert_eq!(counts, true);

    browser.click("td.what a").await;
    browser
        .wait("return document.querySelector('h1')?.textContent === 'How to Choose Running Shoes'")
        .await;
    browser.wait(IS_LIVE).await;
    let body = browser.text("pre.json").await;
    assert!(body.contains("\"title\": \"How to Choose Running Shoes\""));
    browser.click(".crumbs a").await;
    browser.wait_for_count("#list tbody tr", 1).await;
    browser.end_without_errors().await;
}

#[tokio::test]
async fn an_arrival_is_seen_and_moves_no_column() {
    let Some((browser, _page, file, _folder)) = shown().await else { return };
    // The receiver is this process, and the page another.
    let inbox = Inbox::open(&file).await.unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    let places = "return [...document.querySelectorAll('#list th, .states a')].map(e => { \
        const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })";
    let before = browser.run(places).await;
    for number in 0..5 {
        let job = format!("job_new_{number}");
        let request = fixture::complete().job_id(&job);
        assert_eq!(inbox.accept(request.delivery().unwrap()).await, Reply::Stored);
        let first =
            format!("return document.querySelector('#list tbody tr .job').textContent === '{job}'");
        browser.wait(&first).await;
        // Longer than the pause between two readings of a page.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(browser.run(places).await, before);
    let fresh = browser.count("tr.fresh").await;
    assert_eq!(fresh, 5);
    let heights = browser.run("return new Set([...document.querySelectorAll('#list tbody tr')].map(e => e.offsetHeight)).size").await;
    assert_eq!(heights, 1, "every row is as high as the others");
    inbox.close().await.unwrap();
    browser.end_without_errors().await;
}

#[tokio::test]
async fn eight_tabs_show_the_page_though_a_browser_has_six_connections() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = Running::listen(&folder.path().join("inbox.db"));
    browser.open_live(&page.url).await;
    for _ in 1..8 {
        browser.tab().await;
        browser.open_live(&format!("{}/", page.base)).await;
    }
    browser.end().await;
}

#[tokio::test]
async fn the_keyboard_alone_is_enough() {
    let Some((browser, page, _, _folder)) = shown().await else { return };
    browser.open_live(&format!("{}/?state=dead", page.base)).await;
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
