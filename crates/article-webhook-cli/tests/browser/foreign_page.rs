//! Other pages in the same browser, while the page is open in it.

use std::time::Duration;

use article_webhook_inbox::{Inbox, SqliteStore, State};

use crate::{foreign::Foreign, path::shown};

#[tokio::test]
async fn no_other_page_presses_a_button_or_reads_the_inbox() {
    let Some((browser, page, file, _folder)) = shown().await else { return };
    let foreign = Foreign::start().await;
    let entry = format!("{}/entry/job_64d4083e/article.complete", page.base);
    browser.open(&entry).await;
    // Even with the token, as if it had leaked.
    let token = browser.run("return document.querySelector('input[name=token]').value").await;
    let token = token.as_str().unwrap();

    let form = format!(
        "<form method=post action=\"{entry}/requeue\" target=TARGET><input name=token value=\"{token}\"></form>\
         <iframe name=inside></iframe><script>document.forms[0].submit()</script>"
    );
    foreign.serve("/form", &form.replace("TARGET", "_self"));
    // A group of causes.
    let group = format!("{}/requeue?state=dead", page.base);
    let of_group = form.replace("TARGET", "_self").replace(&format!("{entry}/requeue"), &group);
    foreign.serve("/group", &of_group);
    foreign.serve("/hidden", &form.replace("TARGET", "inside"));
    foreign.serve(
        "/fetch",
        &format!(
            "<script>window.got = []; for (const mode of ['cors', 'no-cors']) \
             fetch('{entry}/requeue', {{ method: 'POST', mode, credentials: 'include', \
             body: new URLSearchParams({{ token: '{token}' }}) }}).then(a => got.push(a.type), () => got.push('refused'));\
             fetch('{base}/', {{ credentials: 'include' }}).then(() => got.push('read'), () => got.push('refused'));\
             const events = new EventSource('{base}/events', {{ withCredentials: true }}); \
             events.onopen = () => got.push('listens'); events.onerror = () => got.push('refused');</script>\
             <iframe src=\"{entry}\" onload=\"got.push('framed')\"></iframe><script src=\"{base}/\"></script>",
            base = page.base
        ),
    );
    // The first is the same site, as browsers see it: another port of this machine.
    for origin in [foreign.url.clone(), foreign.url.replace("127.0.0.1", "localhost")] {
        for form in ["form", "group"] {
            browser.open(&format!("{origin}/{form}")).await;
            browser.wait("return document.querySelector('h1')?.textContent === 'Another page asked for this'").await;
        }
        browser.open(&format!("{origin}/hidden")).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        browser.open(&format!("{origin}/fetch")).await;
        browser.wait("return got.length >= 5").await;
        let got = browser.run("return got").await.to_string();
        assert!(
            !got.contains("read") && !got.contains("listens") && !got.contains("cors"),
            "{got}"
        );
    }
    // A name of a stranger that leads to this machine.
    browser.open(&page.url.replace("127.0.0.1", "rebound.example")).await;
    browser.wait("return document.querySelector('h1').textContent === 'This is not the address of the page'").await;
    // A browser that does not have the cookie.
    browser.open(&entry.replace("127.0.0.1", "localhost")).await;
    browser.wait("return document.querySelector('h1').textContent === 'The key is missing'").await;
    // The page itself, with the token of another start.
    browser.open(&entry).await;
    // In one script: the page may draw the form again between two.
    browser
        .run(
            "document.querySelector('#state input[name=token]').value = '0'.repeat(32); \
             document.querySelector('#state button').click()",
        )
        .await;
    browser
        .wait("return document.querySelector('h1').textContent === 'The form is out of date'")
        .await;

    let inbox = Inbox::new(SqliteStore::open_shared(&file).unwrap());
    assert_eq!(inbox.counts().await.unwrap().of(State::Dead), 1, "no button was pressed");
    browser.end().await;
}

#[tokio::test]
async fn another_server_on_this_machine_does_not_get_the_cookie() {
    let Some((browser, page, _, _folder)) = shown().await else { return };
    let foreign = Foreign::start().await;
    // The cookie is for the host, whatever the port.
    foreign.serve(
        "/",
        "<script>fetch('/asked', { credentials: 'include' })</script><img src=/loaded><iframe src=/framed></iframe>",
    );
    browser.open(&format!("{}/", foreign.url)).await;
    browser.open(&format!("{}/entry/job_64d4083e/article.complete", foreign.url)).await;
    let asked = foreign.seen();
    for path in ["/", "/asked", "/loaded", "/framed"] {
        assert!(asked.iter().any(|it| it == path), "{path}: {asked:?}");
    }
    assert_eq!(foreign.with_cookie(), [""; 0]);
    // It would get it if it knew the path.
    let path = page.base.replace(&page.origin, "");
    browser.open(&format!("{}{path}/", foreign.url)).await;
    assert_eq!(foreign.with_cookie(), [format!("{path}/")], "a cookie is noticed");
    // The page is left for it, by a link that a person follows.
    browser.open(&format!("{}/", page.base)).await;
    let link = format!(
        "const a = document.createElement('a'); a.href = '{}/left'; document.body.append(a); a.click()",
        foreign.url
    );
    browser.run(&link).await;
    browser.until_url(|url| url.ends_with("/left")).await;
    assert_eq!(browser.run("return document.referrer").await, "");
    assert_eq!(foreign.with_cookie(), [""; 0]);
    browser.end().await;
}
