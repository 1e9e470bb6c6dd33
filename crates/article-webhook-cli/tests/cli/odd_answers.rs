//! What `get` makes of answers that the service's document does not show.

use std::fs;

use crate::{
    server::serve,
    tool::{run_at, text},
};

/// A service that answers every call with this body. Returns its URL.
fn service(body: &'static [u8]) -> String {
    serve(move |_| {
        let length = body.len();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        [head.as_bytes(), body].concat()
    })
}

/// Half an emoji, as JavaScript leaves it, and a byte that is not UTF-8.
const ODD: &[u8] = b"{\"job_id\":\"job_1\",\"status\":\"done\",\"article\":{\"title\":\"Run \\ud83c\",\"html\":\"caf\xe9\"}}";

const NOTE: &str = "\nthe response is not valid JSON, and --output alone writes it unchanged:\n  \
    article.title: repaired, a lone surrogate\n  \
    article.html: repaired, bytes that are not UTF-8\n";

#[test]
fn an_answer_that_must_be_repaired_is_shown_repaired_and_written_as_it_came() {
    let url = service(ODD);
    let (exit, html, note) = run_at(&url, &["get", "job_1", "--html"]);
    assert_eq!((exit, &*html, &*note), (Some(0), "caf\u{fffd}", NOTE));

    let (exit, json, note) = run_at(&url, &["get", "job_1", "--json"]);
    assert_eq!((exit, &*note), (Some(0), NOTE));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["article"]["title"], "Run \u{fffd}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.json");
    let (exit, _, note) = run_at(&url, &["get", "job_1", "--output", text(&file)]);
    assert_eq!((exit, fs::read(&file).unwrap()), (Some(0), ODD.to_vec()), "{note}");
}

#[test]
fn a_failed_job_ends_the_wait_and_is_named() {
    let url = service(br#"{"job_id":"job_1","status":"failed"}"#);
    for get in [&["get", "job_1"][..], &["get", "job_1", "--wait"]] {
        let (exit, out, error) = run_at(&url, get);
        assert_eq!((exit, &*out), (Some(4), ""));
        assert_eq!(
            error,
            "error: the service says that the job has failed: \"failed\"\n\
             fix:   find out at the service why the job failed, and order the article again\n"
        );
    }
}

#[test]
fn a_draft_is_no_article() {
    let url =
        service(br#"{"job_id":"job_1","status":"writing","article":{"title":"Run","html":"<p>"}}"#);
    assert_eq!(
        run_at(&url, &["get", "job_1"]),
        (Some(0), "job_1  writing\n".to_owned(), String::new())
    );
    let (exit, _, error) = run_at(&url, &["get", "job_1", "--html"]);
    assert_eq!(exit, Some(1));
    assert!(
        error.starts_with("error: the job is not complete, its status is \"writing\""),
        "{error}"
    );
    assert!(error.ends_with("\nfix:   add --wait\n"), "{error}");
    let complete =
        service(br#"{"job_id":"job_1","status":"done","article":{"title":"Run","html":"<p>"}}"#);
    assert_eq!(run_at(&complete, &["get", "job_1", "--html", "--wait"]).1, "<p>");
}
