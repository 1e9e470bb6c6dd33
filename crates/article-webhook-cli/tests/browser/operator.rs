//! An operator with many dead entries.

use std::{path::Path, time::Duration};

use article_webhook::{Sink, fixture};
use article_webhook_inbox::{Failed, Inbox, Job, SqliteStore};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    deliver::deliver,
    driver::{Browser, IS_LIVE},
    running::Running,
    tool::TOKEN,
};

/// Twelve entries are dead for one reason, each with other figures, and one is for another. The inbox is open.
pub(crate) async fn broken(file: &Path) -> Inbox {
    let inbox = Inbox::new(SqliteStore::open(file).unwrap());
    for number in 0..13 {
        let request = fixture::complete().job_id(&format!("job_{number:02}"));
        inbox.accept(request.delivery().unwrap()).await;
    }
    let publish = async |job: Job| match job.job_id().as_str() {
        "job_12" => again("the blog has no category “training”".to_owned()),
        job => again(format!("{job}: HTTP 503 after 31 s")),
    };
    inbox.worker(publish).attempts(3).run_until_idle().await.unwrap();
    inbox
}

/// A browser, and the page of a [broken] inbox, which is not opened yet.
struct Scene {
    browser: Browser,
    inbox: Inbox,
    page: Running,
    /// It is removed with this.
    folder: TempDir,
}

async fn scene() -> Option<Scene> {
    let browser = Browser::start().await?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    let inbox = broken(&file).await;
    Some(Scene { browser, inbox, page: Running::page(&file, &[]), folder })
}

/// Two deliveries that a receiver refuses: one with another token, one that is no JSON.
pub(crate) async fn refused(listening: &Running) {
    for token in ["Bearer 0000000000000000", TOKEN] {
        let body = "{\"job_id\":\"job_1\",";
        deliver(&listening.receiver, token, "article.complete", "job_1", body).await;
    }
}

/// Tried again at once.
fn again(cause: String) -> Result<(), Failed> {
    Err(Failed::retry_after(cause, Duration::ZERO))
}

#[tokio::test]
async fn keys_go_through_the_entries_and_requeue_at_the_second_press() {
    let Some(Scene { browser, inbox, page, folder: _folder }) = scene().await else { return };
    browser.open_live(&page.url).await;
    browser.open_live(&format!("{}/?state=dead&q=503", page.base)).await;
    let focused = "document.activeElement.querySelector('.job')?.textContent";
    for (key, job) in
        [("j", "job_11"), ("j", "job_10"), ("k", "job_11"), ("k", "job_11"), ("j", "job_10")]
    {
        browser.press(key).await;
        assert_eq!(browser.run(&format!("return {focused}")).await, job, "{key}");
    }
    browser.press("\u{e007}").await;
    let at = |job: &str| {
        format!(
            "return document.querySelector('.crumbs bdi')?.textContent === '{job}' && !!document.querySelector('#connection[data-state=on]')"
        )
    };
    browser.wait(&at("job_10")).await;
    browser.press("j").await;
    browser.wait(&at("job_09")).await;
    browser.press("k").await;
    browser.wait(&at("job_10")).await;
    browser.press("?").await;
    browser.wait("return document.getElementById('keys').open").await;
    browser.press("j").await;
    browser.press("\u{e00c}").await;
    browser.wait("return !document.getElementById('keys').open").await;
    assert_eq!(browser.run(&at("job_10")).await, true, "no key counts in the dialog");
    browser.press("r").await;
    let is_button = "return document.activeElement.matches('#state button')";
    assert_eq!(browser.run(is_button).await, true);
    let state = "document.querySelector('#state .badge').textContent";
    assert_eq!(
        browser.run(&format!("return {state}")).await,
        "dead",
        "the first press changes nothing"
    );
    browser.press("\u{e007}").await;
    browser.wait(&format!("return {state} === 'waiting'")).await;
    // From here to the search, where letters are letters.
    browser.wait(IS_LIVE).await;
    browser.press("/").await;
    browser.wait("return document.activeElement.id === 'search'").await;
    browser.press("CATEGORY").await;
    browser.press("\u{e007}").await;
    browser.wait("return location.search === '?q=CATEGORY' && document.querySelectorAll('#list tbody tr').length === 1").await;
    browser.press("/").await;
    browser.press("jkr?/").await;
    assert_eq!(browser.run("return document.getElementById('search').value").await, "jkr?/");
    inbox.close().await.unwrap();
    browser.end_without_errors().await;
}

#[tokio::test]
async fn an_entry_and_a_group_are_requeued_and_followed_without_javascript() {
    let Some(Scene { browser, inbox, page, folder: _folder }) = scene().await else { return };
    browser.chromium("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    browser.open(&page.url).await;
    browser.until_url(|url| !url.contains("?key=")).await;
    for link in ["a[data-state=dead]", "td.what a", "#state button"] {
        browser.click(link).await;
    }
    browser.until_url(|url| url.ends_with("?done=requeued&list=state%3Ddead")).await;
    browser.open(&format!("{}/", page.base)).await;
    browser.click(".choice .primary").await;
    let result = browser.until_url(|url| url.contains("/?requeued=")).await;
    inbox.worker(async |_: Job| Ok(())).run_until_idle().await.unwrap();
    browser.open(&result).await;
    browser.chromium("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await;
    let shown = browser.text(".result").await;
    assert!(shown.contains("published12"), "{shown}");
    inbox.close().await.unwrap();
    browser.end().await;
}
