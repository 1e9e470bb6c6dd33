//! The page of the demo.

use crate::{driver::Browser, running::Running};

/// How the latest order is now.
const NOW: &str = "document.querySelector('#panel-rows td.now')?.textContent";

async fn press(browser: &Browser, button: &str) {
    browser.click(&format!("form[action$='/panel/{button}'] button")).await;
}

#[tokio::test]
async fn a_person_breaks_the_receiver_and_sees_what_the_service_does() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let demo = Running::demo(&folder.path().join("inbox.db"));
    browser.open(&demo.url).await;
    browser.wait(&format!("return {NOW} === 'published'")).await;
    browser.wait_for_count(".entries tbody tr", 1).await;
    let places = "return JSON.stringify([...document.querySelectorAll('h1, .states a, .orders th')].map(e => { \
        const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }))";
    let before = browser.run(places).await;

    press(&browser, "break").await;
    browser.wait("return document.getElementById('panel-text').textContent.includes('503')").await;
    press(&browser, "order").await;
    browser
        .wait("return document.querySelector('#panel-rows .steps')?.textContent.includes(' 503')")
        .await;
    browser.wait("return !!document.querySelector(\"form[action$='/panel/repair']\")").await;
    press(&browser, "repair").await;
    browser.wait(&format!("return {NOW} === 'published'")).await;

    press(&browser, "switch-off").await;
    browser
        .wait("return document.getElementById('panel-text').textContent.includes('is off')")
        .await;
    press(&browser, "order-ten").await;
    browser.wait_for_count("#panel-rows tbody tr", 12).await;
    browser
        .wait(&format!("return {NOW}?.startsWith('not delivered; the collector polls at ')"))
        .await;
    press(&browser, "repair").await;
    // Those that the service still tried may be delivered.
    let published = "const now = [...document.querySelectorAll('#panel-rows td.now')].map(e => e.textContent); \
        return now.every(text => text.endsWith('published')) && now[0] === 'collected and published'";
    browser.wait(published).await;
    browser.wait_for_count(".entries tbody tr", 12).await;
    assert_eq!(browser.run(places).await, before, "nothing above the list moves");
    assert_eq!(browser.console().await, [""; 0]);

    for width in [1280, 360] {
        browser.size(width, 900).await;
        let wide = browser.run("return document.documentElement.scrollWidth > innerWidth").await;
        assert_eq!(wide, false, "it is wider than {width} px");
    }
    browser.end().await;
}
