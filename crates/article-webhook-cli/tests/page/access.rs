//! Who gets in, and who presses a button.

use std::{path::Path, process::Command};

use reqwest::Method;

use crate::{
    client::{Visitor, waiting},
    running::Running,
    sample,
    tool::{has, run, text},
};

const DEAD: &str = "/entry/job_dead/article.complete";

#[tokio::test]
async fn without_the_key_nothing_of_the_inbox_is_seen() {
    let (_folder, file) = sample::inbox().await;
    let page = Running::page(&file, &[]);
    let stranger = Visitor::stranger(&page);
    let paths = [
        "/",
        "/?requeued=1",
        "/ledger",
        "/refused",
        "/health",
        "/events",
        DEAD,
        "/?key=",
        "/?key=0123",
        "/nothing",
        "/panel/x",
    ];
    let body = format!("{DEAD}/body/1");
    let article = format!("{DEAD}/article/1");
    for path in paths.into_iter().chain([body.as_str(), article.as_str()]) {
        let answer = stranger.get(path).await;
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.text.contains("job_") && !answer.text.contains("Running Shoes"), "{path}");
        assert!(answer.header("set-cookie").is_empty(), "{path}");
    }
    let mut other = Visitor::of(&page).await;
    for cookie in
        ["article-webhook=", Visitor::of(&Running::page(&file, &[])).await.cookie.as_str()]
    {
        cookie.clone_into(&mut other.cookie);
        assert_eq!(other.get("/").await.status, 401, "the key of another start");
    }
    for path in ["/assets/page.css", "/assets/page.js", "/assets/icon.svg"] {
        assert_eq!(stranger.get(path).await.status, 200, "{path}");
    }
    assert_eq!(Visitor::of(&page).await.get("/").await.status, 200);
}

#[tokio::test]
async fn without_the_random_part_of_the_path_there_is_nothing() {
    let (_folder, file) = sample::inbox().await;
    let page = Running::page(&file, &[]);
    let mut visitor = Visitor::of(&page).await;
    let (key, token) =
        (visitor.below(&page.url[page.origin.len()..]).to_owned(), visitor.get(DEAD).await.token());
    let root = visitor.root.clone();
    let other = format!("/{}", "0".repeat(32));
    assert_eq!(root.len(), other.len());
    visitor.base = page.origin.clone();
    for before in ["", "/", &other, &root[..32], &format!("{root}0"), &root.to_uppercase()] {
        for path in ["/", "/ledger", "/events", "/assets/page.js", DEAD, key.as_str()] {
            let path = format!("{before}{path}");
            for headers in [[("sec-fetch-site", "same-origin")], [("host", "evil.example")]] {
                let answer = visitor.send(Method::GET, &path, &headers, "").await;
                assert_eq!((answer.status, &*answer.text), (404, ""), "{path} {headers:?}");
                assert_eq!(answer.header("set-cookie"), "", "{path}");
            }
        }
        let answer = visitor.post(&format!("{before}{DEAD}/requeue"), &token).await;
        assert_eq!((answer.status, &*answer.text), (404, ""), "{before}");
    }
    assert_eq!(visitor.get(&format!("{root}/")).await.status, 200);
}

#[tokio::test]
async fn another_name_of_this_machine_is_refused_with_the_key_too() {
    let (_folder, file) = sample::inbox().await;
    let (page, visitor) = Visitor::at(&file).await;
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        for path in ["/", "/assets/page.js", page.url.strip_prefix(&page.base).unwrap()] {
            let answer = visitor.send(Method::GET, path, &[("host", host)], "").await;
            assert_eq!((answer.status, answer.header("set-cookie")), (421, ""), "{host} {path}");
        }
    }
    for host in ["localhost:1", "[::1]:80", "192.168.1.7"] {
        assert_eq!(visitor.send(Method::GET, "/", &[("host", host)], "").await.status, 200);
    }
}

#[tokio::test]
async fn another_page_may_link_here_and_embed_nothing() {
    let (_folder, file) = sample::inbox().await;
    let (_page, visitor) = Visitor::at(&file).await;
    for (dest, status) in
        [("document", 200), ("iframe", 403), ("script", 403), ("image", 403), ("empty", 403)]
    {
        let headers = [("sec-fetch-site", "same-site"), ("sec-fetch-dest", dest)];
        let answer = visitor.send(Method::GET, "/", &headers, "").await;
        assert_eq!(answer.status, status, "{dest}");
    }
}

#[tokio::test]
async fn only_the_page_itself_presses_a_button() {
    let (_folder, file) = sample::inbox().await;
    let (page, visitor) = Visitor::at(&file).await;
    let before = waiting(&file).await;
    let requeue = format!("{DEAD}/requeue");
    let shown = visitor.get(DEAD).await;
    let token = format!("token={}", shown.token());

    let https = page.origin.replace("http:", "https:");
    let foreign: [&[(&str, &str)]; 9] = [
        &[],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        // As a form of another page does, which opens this one.
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")],
        &[("origin", "http://127.0.0.1:1")],
        &[("origin", "null")],
        &[("origin", &https)],
        &[("sec-fetch-site", "cross-site"), ("origin", &page.origin)],
    ];
    let (stranger, group) = (Visitor::stranger(&page), "/requeue?state=dead");
    for path in [requeue.as_str(), group] {
        for headers in foreign {
            let answer = visitor.send(Method::POST, path, headers, &token).await;
            assert_eq!(answer.status, 403, "{path} {headers:?}");
        }
        for wrong in ["", "0123", "token", &page.url[page.url.len() - 32..]] {
            assert_eq!(visitor.post(path, wrong).await.status, 403, "{path} {wrong}");
        }
        assert_eq!(stranger.post(path, &shown.token()).await.status, 401, "{path}");
    }
    let own = [("sec-fetch-site", "same-origin")];
    assert_eq!(visitor.send(Method::POST, &requeue, &own, "").await.status, 403, "no form");
    assert_eq!(visitor.send(Method::GET, &requeue, &own, "").await.status, 405);
    assert_eq!(waiting(&file).await, before, "nothing was changed");

    let answer = visitor.post(&requeue, &shown.token()).await;
    let place = answer.header("location").to_owned();
    assert_eq!(
        (answer.status, visitor.below(&place)),
        (303, "/entry/job%5Fdead/article%2Ecomplete?done=requeued")
    );
    assert_eq!(waiting(&file).await, before + 1);
    // A browser without fetch metadata is known by its origin.
    let origin = [("origin", page.origin.as_str())];
    assert_eq!(visitor.send(Method::POST, &requeue, &origin, &token).await.status, 303);
    assert!(
        visitor.get(visitor.below(&place)).await.text.contains("Requeued: the entry is due now")
    );
}

#[tokio::test]
async fn only_a_button_that_the_panel_offers_is_pressed_and_by_its_form() {
    let (_folder, file) = sample::place();
    let demo = Running::demo(&file);
    let visitor = Visitor::of(&demo).await;
    let shown = async || visitor.get("/").await;
    let token = shown().await.token();
    // The receiver works, so nothing repairs it.
    for (button, token, status) in [
        ("repair", &*token, 404),
        ("nothing", &token, 404),
        ("order-ten", "0123", 403),
        ("break", "", 403),
    ] {
        let answer = visitor.post(&format!("/panel/{button}"), token).await;
        assert_eq!(answer.status, status, "{button}: {}", answer.text);
        let text = shown().await.text;
        assert!(text.contains("The receiver works."), "{button}: {text}");
        // The demo orders one itself.
        assert!(text.matches("<td class=\"now\"").count() < 2, "{button}: {text}");
    }
    assert_eq!(visitor.post("/panel/break", &token).await.status, 303);
    has(&shown().await.text, &["The receiver cannot store", "/panel/repair"]);
}

#[tokio::test]
async fn a_read_only_page_has_no_button_and_refuses_every_change() {
    let (_folder, file) = sample::inbox().await;
    let page = Running::page(&file, &["--read-only"]);
    let visitor = Visitor::of(&page).await;
    let before = waiting(&file).await;
    for path in ["/", DEAD, "/entry/job_done/article.complete", "/ledger", "/refused", "/health"] {
        let shown = visitor.get(path).await;
        assert_eq!(shown.status, 200, "{path}");
        assert!(!shown.text.contains("method=\"post\""), "{path}");
        assert!(shown.text.contains("read-only"), "{path}");
    }
    // No page shows a token, so the page must name the cause: a wrong token is refused with the same status.
    for what in [&format!("{DEAD}/requeue"), &format!("{DEAD}/replay"), "/requeue?state=dead"] {
        let answer = visitor.post(what, "0123").await;
        assert_eq!(answer.status, 403, "{what}");
        assert!(answer.text.contains("The page is read-only"), "{what}: {}", answer.text);
    }
    assert_eq!(waiting(&file).await, before);
}

/// A start with a key file that fails: what it says.
fn refused(inbox: &Path, key: &Path) -> String {
    let (exit, _, error) = run(&["inbox", "page", text(inbox), "--page-key-file", text(key)]);
    assert_eq!(exit, Some(2));
    error
}

#[cfg(unix)]
#[tokio::test]
async fn with_a_key_file_the_page_is_the_same_after_a_restart() {
    use std::{fs, os::unix::fs::PermissionsExt};

    let folder = tempfile::tempdir().unwrap();
    let [file, key] = ["inbox.db", "page.key"].map(|name| folder.path().join(name));
    sample::fill(&file).await;
    let shown = key.to_str().unwrap();
    let mut page = Running::page(&file, &["--page-key-file", shown]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&key), 0o600);
    let mut visitor = Visitor::of(&page).await;
    let token = visitor.get(DEAD).await.token();
    let (path, before) = (page.url[page.origin.len()..].to_owned(), fs::read(&key).unwrap());
    page = Running::page(&file, &["--page-key-file", shown]);
    assert_eq!((&page.url[page.origin.len()..], fs::read(&key).unwrap()), (&*path, before));
    visitor.base = page.base.clone();
    let answer = visitor.post(&format!("{DEAD}/requeue"), &token).await;
    assert_eq!(answer.status, 303, "an open page goes on");

    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let error = refused(&file, &key);
    let fix = format!(
        "chmod 600 {shown}, if no other user has read it; otherwise rm {shown}, and a new one is made"
    );
    has(&error, &[&format!("others than its owner have rights on {shown}"), &fix]);
    assert!(Command::new("chmod").args(["600", shown]).status().unwrap().success());
    page = Running::page(&file, &["--page-key-file", shown]);
    assert_eq!(&page.url[page.origin.len()..], path);
}

#[tokio::test]
async fn a_key_file_that_could_be_guessed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [file, key] = ["inbox.db", "page.key"].map(|name| folder.path().join(name));
    sample::fill(&file).await;
    let shown = key.to_str().unwrap();
    drop(Running::page(&file, &["--page-key-file", shown]));
    let made = std::fs::read_to_string(&key).unwrap();
    let lines: Vec<_> = made.lines().collect();
    let zeros = "0".repeat(32);
    for weak in [
        String::new(),
        "secret".to_owned(),
        lines[..3].join("\n"),
        [lines[0]; 4].join("\n"),
        [lines[0], lines[1], lines[2], &zeros].join("\n"),
        made.to_uppercase(),
        format!("{made}{}", lines[0]),
    ] {
        // The rights stay.
        std::fs::write(&key, &weak).unwrap();
        let error = refused(&file, &key);
        let says = format!("{shown} is not a key that this program made");
        has(&error, &[&says, &format!("rm {shown}, and a new one is made; or name another file")]);
        assert!(weak.is_empty() || !error.contains(&weak), "{error}");
    }
    std::fs::remove_file(&key).unwrap();
    assert_eq!(
        Visitor::of(&Running::page(&file, &["--page-key-file", shown])).await.get("/").await.status,
        200
    );
    let error = refused(&file, &folder.path().join("nowhere/page.key"));
    has(&error, &["name a file of your own, in a folder that you may write: --page-key-file FILE"]);
}
