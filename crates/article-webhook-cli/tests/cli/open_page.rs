//! Ctrl-C while a browser has the page open.

use std::process::Command;

use reqwest::{Client, Response};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    running::{Running, TIMEOUT},
    sample,
    tool::{text, tool},
};

/// The stream of events of an open page, and the first of them.
async fn events(page: &str) -> Response {
    let browser = Client::builder().no_proxy().build().unwrap();
    let opened = browser.get(page).send().await.unwrap();
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let mut events = opened.url().join("events").unwrap();
    events.set_query(None);
    let stream =
        browser.get(events).header("Cookie", cookie).header("Sec-Fetch-Site", "same-origin");
    let mut stream = stream.send().await.unwrap();
    assert_eq!(stream.status(), 200);
    let first = timeout(TIMEOUT, stream.chunk()).await.expect("a change is reported").unwrap();
    assert!(first.is_some());
    stream
}

async fn ends(command: &mut Command) {
    let command = command.env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
    let (mut running, started) = Running::start(command);
    let mut stream = events(started["page"].as_str().unwrap()).await;
    running.interrupt();
    let ended = spawn_blocking(move || running.ended());
    assert_eq!(ended.await.unwrap(), Some(0), "{command:?}");
    // The stream ends as a stream does, and is not cut off.
    while let Some(_chunk) = timeout(TIMEOUT, stream.chunk()).await.unwrap().unwrap() {}
}

#[tokio::test]
async fn ctrl_c_ends_a_page_and_a_receiver_whose_page_a_browser_has_open() {
    let (_folder, file) = sample::inbox().await;
    ends(&mut tool(["inbox", "page", text(&file), "--json"])).await;
    ends(&mut tool(["listen", "--port", "0", "--json", "--inbox", text(&file)])).await;
}
