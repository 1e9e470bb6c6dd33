//! What is shown, and how.

use std::time::SystemTime;

use crate::{
    client::{Visitor, shown},
    deliver::deliver,
    running::Running,
    sample,
    tool::{TOKEN, has},
};
use article_webhook::{
    Reply, Sink,
    fixture::{self, DeliveryRequest},
};
use article_webhook_inbox::{
    EntryKey, Inbox, Reason, SqliteStore,
    store::{Expect, Store},
};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const ARTICLE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; form-action 'none'; \
    base-uri 'none'; frame-ancestors 'self'";

#[tokio::test]
async fn every_answer_says_what_a_browser_may_do_with_it() {
    let (_folder, file) = sample::inbox().await;
    let page = Running::page(&file, &[]);
    let (visitor, stranger) = (Visitor::of(&page).await, Visitor::stranger(&page));
    let done = "/entry/job_done/article.complete";
    let paths = [
        "/",
        done,
        "/?requeued=1",
        "/ledger",
        "/refused",
        "/health",
        "/nothing",
        "/assets/page.js",
        "/entry/x/y",
    ];
    let mut answers = vec![stranger.get("/").await, visitor.get(&format!("{done}/body/1")).await];
    for path in paths {
        answers.push(visitor.get(path).await);
    }
    for answer in &answers {
        assert_eq!(answer.header("content-security-policy"), POLICY);
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
    }
    let article = visitor.get(&format!("{done}/article/1")).await;
    assert_eq!((article.status, article.header("content-security-policy")), (200, ARTICLE_POLICY));
    assert_eq!(article.header("referrer-policy"), "no-referrer");
    answers.push(article);
    for answer in &answers {
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        let has_inline = ["<style", " style=", "<script>", " onclick", "javascript:"];
        let is_own = answer.header("content-security-policy") == POLICY;
        assert!(!is_own || !has_inline.iter().any(|it| answer.text.contains(it)));
    }
    let shown = visitor.get(done).await.text;
    assert!(shown.contains("<iframe sandbox=\"\" referrerpolicy=\"no-referrer\""));
    let body = visitor.get(&format!("{done}/body/1")).await;
    assert_eq!(body.header("content-disposition"), "attachment; filename=\"body-1.json\"");
}

#[tokio::test]
async fn the_health_says_what_status_says() {
    let (_folder, file) = sample::inbox().await;
    let page = Running::page(&file, &[]);
    let health = Visitor::of(&page).await.get("/health").await.text;
    for (name, text) in [("writable", "yes"), ("oldest due", "for less than a minute")] {
        has(&health, &[&format!("<h2>{name}</h2><p><bdi>{text}</bdi></p>")]);
    }
    assert_eq!(health.matches("aria-label=\"well\"").count(), 2, "{health}");
}

#[tokio::test]
async fn nothing_that_came_from_outside_is_html_or_hides() {
    let (_folder, file) = sample::inbox().await;
    let hostile =
        "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'\u{202e}";
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    let job = "job_<b>\"'\u{202e}x";
    let body = serde_json::json!({
        "job_id": job, "status": "complete", "article": { "title": hostile, "html": hostile, "meta_title": hostile },
        "featured_image": { "url": hostile }, hostile: hostile,
    });
    sample::deliver(&inbox, DeliveryRequest::new(body.to_string()).job_id(job)).await;
    assert!(inbox.discard(EntryKey::article(job.parse().unwrap()), hostile).await.unwrap());
    inbox.close().await.unwrap();

    let (_page, visitor) = Visitor::at(&file).await;
    let list = visitor.get("/").await.text;
    let path = list.split("/entry/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let entry = visitor.get(&format!("/entry/{path}")).await.text;
    let search = visitor.get("/?q=%3Cscript%3E%22&cause=%3Cb%3E").await.text;
    let article = visitor.get(&format!("/entry/{path}/article/1")).await.text;
    assert!(entry.contains("alert(1)"), "it is shown");
    for (name, text) in [("list", list), ("entry", entry), ("search", search), ("article", article)]
    {
        for harm in ["<script>", "<img src=x", "<b>", "\u{202e}"] {
            // An article may be written from right to left.
            let is_text_of_the_article = name == "article" && harm == "\u{202e}";
            let found = text.split_once(harm).filter(|_| !is_text_of_the_article);
            assert_eq!(found, None, "{name}: {harm:?}");
        }
    }
}

#[tokio::test]
async fn every_event_survives_the_way_through_a_browser() {
    let events = [".", "..", "~", "~..", "%2E%2E", "a/b?c#d", "..a"];
    let deliveries = events.map(|event| fixture::minimal().job_id("job_1").event(event));
    let (_folder, _page, visitor) = Visitor::after(deliveries).await;
    let list = visitor.get("/").await.text;
    let links = list.split("/entry/").skip(1).map(|rest| rest.split('"').next().unwrap());
    let links: Vec<_> = links.collect();
    assert_eq!(links.len(), events.len(), "{links:?}");
    for (event, link) in events.iter().rev().zip(links) {
        let entry = visitor.get(&format!("/entry/{link}")).await;
        assert!(entry.text.contains(&format!("<bdi>{event}</bdi>")), "{link}: {}", entry.text);
    }
}

#[tokio::test]
async fn a_body_of_eight_megabytes_is_cut_and_can_be_saved_whole() {
    let html = "<p>A long one.</p>".repeat(8_000_000 / 18);
    let request = fixture::complete().job_id("job_1").html(&html);
    let body = request.bytes().clone();
    let (_folder, _page, visitor) = Visitor::after([request]).await;
    let path = "/entry/job_1/article.complete";
    let shown = visitor.get(path).await;
    assert!(shown.text.len() < 1_000_000 && shown.text.contains("The download has all of it."));
    let article = visitor.get(&format!("{path}/article/1")).await;
    assert!(
        article.text.len() < 1_000_000 && article.text.contains("The rest is in the download.")
    );
    assert_eq!(visitor.get(&format!("{path}/body/1")).await.text.as_bytes(), body);
}

#[tokio::test]
async fn a_done_entry_is_replayed_and_a_leased_one_is_left() {
    let (_folder, file) = sample::inbox().await;
    let (_page, visitor) = Visitor::at(&file).await;
    let done = "/entry/job_done/article.complete";
    let shown = visitor.get(done).await;
    has(&shown.text, &["/entry/job%5Fdone/article%2Ecomplete/replay", ">Replay</button>"]);
    let token = shown.token();
    let answer = visitor.post(&format!("{done}/requeue"), &token).await;
    assert!(answer.header("location").ends_with("?done=changed"), "a button of an older page");
    let answer = visitor.post(&format!("{done}/replay"), &token).await;
    assert!(answer.header("location").ends_with("?done=replayed"));
    assert!(visitor.get(done).await.text.contains("data-state=\"waiting\""));
    assert_eq!(visitor.post("/entry/job_9/article.complete/requeue", &token).await.status, 404);
    assert_eq!(visitor.post("/panel/order", &token).await.status, 404);
}

#[tokio::test]
async fn the_body_that_the_handler_gets_is_shown_first_and_another_by_its_difference() {
    let (_folder, file) = sample::place();
    let inbox = Inbox::open(&file).await.unwrap();
    for (title, reply) in [("Handed", Reply::Stored), ("Another", Reply::Duplicate)] {
        let delivery = fixture::complete().job_id("job_1").title(title).delivery().unwrap();
        assert_eq!(inbox.accept(delivery).await, reply);
    }
    inbox.close().await.unwrap();
    let (_page, visitor) = Visitor::at(&file).await;
    let path = "/entry/job_1/article.complete";
    let first = visitor.get(path).await.text;
    has(
        &first,
        &[
            "<h1><bdi>Handed</bdi></h1>",
            "aria-current=\"true\">body 1: what the handler gets",
            "body 2: another body, not handed out",
            "/article/1\"",
            "/body/1\" download",
        ],
    );
    assert!(!first.contains("In what it differs"));
    let other = visitor.get(&format!("{path}?body=2")).await.text;
    has(
        &other,
        &[
            "<h1><bdi>Handed</bdi></h1>",
            "aria-current=\"true\">body 2: another body, not handed out",
            "title</th><td><bdi>Handed</bdi></td><td><bdi>Another</bdi></td>",
            "/article/2\"",
            "/body/2\" download",
        ],
    );
}

#[tokio::test]
async fn a_search_finds_parts_of_job_ids_titles_and_causes_within_a_state() {
    let (_folder, file) = sample::inbox().await;
    let (_page, visitor) = Visitor::at(&file).await;
    for (query, found) in [
        ("?q=WAIT", vec!["job%5Fwaits"]),
        ("?q=running+shoes", vec!["job%5Fdead", "job%5Fdone"]),
        ("?q=running+shoes&state=done", vec!["job%5Fdone"]),
        ("?q=blog+is", vec!["job%5Fdead"]),
        ("?q=nothing+of+this", vec![]),
        ("?cause=no+article", vec!["job%5F7c1e4a52"]),
        ("?cause=no", vec![]),
    ] {
        let list = visitor.get(&format!("/{query}")).await.text;
        let jobs = list.split("/entry/").skip(1).map(|rest| rest.split('/').next().unwrap());
        assert_eq!(jobs.collect::<Vec<_>>(), found, "{query}: {list}");
    }
    let narrowed = visitor.get("/?q=shoes&cause=no+article&state=unhandled").await.text;
    has(
        &narrowed,
        &[
            "name=\"state\" value=\"unhandled\"",
            "name=\"cause\" value=\"no article\"",
            "No entry matches",
        ],
    );
}

/// The command that the page shows is run.
#[tokio::test]
async fn a_downloaded_body_is_delivered_by_the_command_that_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let page = Running::listen(&folder.path().join("inbox.db"));
    let visitor = Visitor::of(&page).await;
    let body = fixture::complete().job_id("job_'1").bytes().clone();
    assert_eq!(deliver(&page.receiver, TOKEN, "article.complete", "job_'1", body).await, 200);
    let path = "/entry/job_'1/article.complete";
    std::fs::write(
        folder.path().join("body-1.json"),
        visitor.get(&format!("{path}/body/1")).await.text,
    )
    .unwrap();
    let entry = visitor.get(path).await.text;
    let (_, curl) = entry.split_once("data-copy=\"curl").unwrap();
    let curl = curl.split_once("\" aria-label").unwrap().0;
    let curl = curl.replace("&quot;", "\"").replace("&amp;", "&");
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("curl -s -i --noproxy '*'{curl}")).current_dir(folder.path());
    let output = shell.env("ARTICLE_WEBHOOK_TOKEN", TOKEN).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.starts_with("HTTP/1.1 200 "), "{curl}: {output}");
}

#[tokio::test]
async fn what_is_refused_is_listed_with_its_cause() {
    let (_folder, file) = sample::place();
    let page = Running::listen(&file);
    let visitor = Visitor::of(&page).await;
    assert!(visitor.get("/refused").await.text.contains("Nothing was refused since"));
    let deliver = async |token: &str, body: &'static str| {
        deliver(&page.receiver, token, "article.complete", "job_<b>", body).await
    };
    assert_eq!(deliver("Bearer 0000000000000000", "{}").await, 401);
    assert_eq!(deliver(TOKEN, "{\"job_id\":\"job_<b>\",").await, 400);
    let refused = visitor.get("/refused").await.text;
    has(
        &refused,
        &[
            "request refused: the Authorization header",
            "<code><bdi>unauthorized</bdi></code>",
            "delivery refused: ",
            "<code><bdi>malformed_json</bdi></code>",
            "<bdi>job_&lt;b&gt;</bdi>",
            "its body is in quarantine",
        ],
    );
    assert!(!refused.contains("0000000000000000") && !refused.contains("<b>"), "{refused}");
    for _ in 0..200 {
        assert_eq!(deliver(TOKEN, "{").await, 400);
    }
    assert!(!visitor.get("/refused").await.text.contains("unauthorized"), "the last are kept");
}

#[tokio::test]
async fn a_page_without_a_receiver_lists_what_is_kept_of_the_refused() {
    let (_folder, file) = sample::place();
    let store = SqliteStore::open(&file).unwrap();
    let job = Expect::job("job_refused".parse().unwrap(), SystemTime::now());
    let reason = Reason::Refused { code: "body_too_large".into() };
    let ordered = Expect::job("job_ordered".parse().unwrap(), SystemTime::now());
    store.expect(vec![Expect { reason, ..job }, ordered]).await.unwrap();
    store.close().await.unwrap();
    let refused = shown(&file, "/refused").await;
    has(&refused, &["job_refused", "refused: body_too_large", "article-webhook doctor --url"]);
    assert!(!refused.contains("job_ordered"), "{refused}");
}
