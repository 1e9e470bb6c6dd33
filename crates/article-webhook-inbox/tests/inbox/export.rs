use std::io::Cursor;

use article_webhook::fixture;
use article_webhook_inbox::{Digest, Inbox, State, store::Store};
use article_webhook_inbox_contract::CLAIM_ONE;
use serde_json::{Value, json};

use super::scene::{HOUR, Scene, exported, key};

/// The year 10000.
const NO_TIME: u64 = 253_402_300_800_000;

type Change = Box<dyn FnOnce(&mut Value)>;

/// Repeats the first body of a line.
fn bodies(line: &mut Value, count: usize) {
    let bodies = line["bodies"].as_array_mut().unwrap();
    bodies.resize(count, bodies[0].clone());
}

/// Why a line is refused that is correct except for one change.
async fn refused(change: impl FnOnce(&mut Value)) -> String {
    let scene = Scene::new();
    scene.deliver("job_1").await;
    let lines = exported(&scene.inbox).await;
    let mut line = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    change(&mut line);
    let inbox = Inbox::memory();
    let error = inbox.import(Cursor::new(format!("{line}\n"))).await.unwrap_err();
    assert_eq!(inbox.counts().await.unwrap().total(), 0);
    assert!(!error.is_transient());
    error.to_string()
}

#[tokio::test]
async fn an_exported_entry_is_imported_as_it_was() {
    let (from, to) = (Scene::new(), Scene::new());
    from.deliver("job_1").await;
    from.accept(&fixture::unicode().job_id("job_1")).await;
    let no_utf8 = fixture::complete().job_id("job_1");
    let bytes =
        [&no_utf8.bytes()[..no_utf8.bytes().len() - 1], b", \"note\": \"caf\xe9\"}"].concat();
    from.accept(&no_utf8.body(bytes)).await;
    from.deliver("job_2").await;
    from.inbox.discard(key("job_2"), "cancelled").await.unwrap();
    let imported = to.inbox.import(Cursor::new(exported(&from.inbox).await)).await.unwrap();
    assert_eq!((imported.added, imported.present), (2, 0));
    let (entry, _) = to.inbox.show(key("job_2")).await.unwrap().unwrap();
    assert_eq!(entry.failures.len(), 1);
    for job in ["job_1", "job_2"] {
        assert_eq!(
            to.inbox.show(key(job)).await.unwrap(),
            from.inbox.show(key(job)).await.unwrap()
        );
    }
}

/// What was read before a wrong line is stored, page by page, and a repeated import adds the rest. Empty lines are skipped.
#[tokio::test]
async fn a_partial_import_of_several_pages_goes_on_at_a_wrong_line() {
    let (from, to) = (Scene::new(), Scene::new());
    for job in 0..600 {
        from.deliver(&format!("job_{job}")).await;
    }
    let whole = exported(&from.inbox).await;
    let lines: Vec<_> = whole.lines().collect();
    let wrong = [&["\r"][..], &lines[..550], &["", "{"], &lines[550..]].concat().join("\n");
    let error = to.inbox.import_partial(wrong.as_bytes()).await.unwrap_err();
    assert!(error.to_string().starts_with("line 553 is no line of an export: EOF"), "{error}");
    assert_eq!(to.inbox.counts().await.unwrap().total(), 550);
    let imported = to.inbox.import(Cursor::new(&whole)).await.unwrap();
    assert_eq!((imported.added, imported.present), (50, 550));
    assert_eq!(exported(&to.inbox).await, whole);
}

/// What an attempt did to its process there, the next may do here.
#[tokio::test]
async fn an_entry_that_ran_alone_there_runs_alone_here() {
    let (from, to) = (Scene::new(), Scene::new());
    from.deliver("job_1").await;
    for runs_alone in [false, false, true] {
        assert_eq!(from.store.claim(CLAIM_ONE).await.unwrap().claimed[0].runs_alone, runs_alone);
        from.clock.advance(2 * HOUR);
    }
    to.inbox.import(Cursor::new(exported(&from.inbox).await)).await.unwrap();
    assert!(to.store.claim(CLAIM_ONE).await.unwrap().claimed[0].runs_alone);
}

/// Durable acknowledgement: the next delivery, or the API, repairs an entry that came without its bytes.
#[tokio::test]
async fn an_unfinished_entry_without_any_bytes_is_corrupt_until_it_is_delivered_again() {
    let (from, to) = (Scene::new(), Scene::new());
    let post = fixture::complete().job_id("job_1");
    from.record_as(key("job_1"), b"flipped", Digest::of(post.bytes())).await;
    to.inbox.import(Cursor::new(exported(&from.inbox).await)).await.unwrap();
    assert_eq!(to.inbox.counts().await.unwrap().of(State::Corrupt), 1);
    to.deliver("job_1").await;
    let (_, bodies) = to.inbox.show(key("job_1")).await.unwrap().unwrap();
    assert_eq!(bodies[0].bytes.as_ref(), Some(post.bytes()));
}

#[tokio::test]
async fn a_line_that_no_store_can_hold_is_refused() {
    let signs = "+1".repeat(32);
    let body = json!({ "received_at": 0, "source": "api", "target": "default", "sha256": signs });
    let failure = json!([{ "at": NO_TIME, "attempt": 1, "cause": "no network" }]);
    let rows: [(Change, &str); 7] = [
        (
            Box::new(|line| line["bodies"][0]["body"] = "{}".into()),
            "body: not the one of which sha256 is the digest",
        ),
        (Box::new(|line| line["bodies"][0] = body), "not a SHA-256 in hex before column 133"),
        (Box::new(|line| bodies(line, 2)), "bodies: the same one twice"),
        (Box::new(|line| bodies(line, 6)), "bodies: expected at most 5"),
        (
            Box::new(|line| line["at"] = NO_TIME.into()),
            "not a time before the year 10000 before column 21",
        ),
        (
            Box::new(|line| line["failures"] = failure),
            "not a time before the year 10000 before column 1417",
        ),
        (
            Box::new(|line| line["state"] = "lost".into()),
            "not a state of an entry before column 1345",
        ),
    ];
    for (change, cause) in rows {
        assert_eq!(refused(change).await, format!("line 1 is no entry: {cause}"));
    }
}

/// An article in quarantine would never be handled, and what was refused must not be.
#[tokio::test]
async fn a_state_that_the_event_cannot_have_is_refused() {
    for (field, value) in [("state", "quarantined"), ("event", "quarantined article.complete")] {
        let error = refused(|line| line[field] = value.into()).await;
        assert_eq!(error, "line 1 is no entry: state: not one that this event can have");
    }
}

/// Secrecy: a parser's error for an unexpected value quotes that value.
#[tokio::test]
async fn no_error_about_a_line_quotes_its_content() {
    for field in ["attempts", "bodies", "received_at", "since", "failures"] {
        let error = refused(|line| line[field] = "secret canary".into()).await;
        assert!(error.starts_with("line 1 is no entry: another kind of value"), "{error}");
    }
    let inbox = Inbox::memory();
    let error = inbox.import(Cursor::new("\"secret canary\"\n")).await.unwrap_err();
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    let key_twice = "{\"kind\": \"secret canary\", \"kind\": \"\"}\n";
    let error = inbox.import(Cursor::new(key_twice)).await.unwrap_err();
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");
}
