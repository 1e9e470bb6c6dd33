//! An export says in its last line what it is, and a part of one is not taken for a whole.

use std::io::Cursor;

use article_webhook_inbox::{Digest, Filter, Inbox, JobFilter, State};

use super::scene::{Scene, exported, key};

const WAY_OUT: &str = "export again, or import it as a partial export";

/// An inbox with two articles that are done or wait, one job that is expected, and what it exports.
async fn shop() -> (Scene, String) {
    let scene = Scene::new();
    for job in ["job_1", "job_2"] {
        scene.deliver(job).await;
    }
    scene.inbox.discard(key("job_2"), "cancelled").await.unwrap();
    scene.refuse("job_3");
    while scene.inbox.jobs(JobFilter::default()).await.unwrap().items.is_empty() {
        tokio::task::yield_now().await;
    }
    let lines = exported(&scene.inbox).await;
    (scene, lines)
}

/// Why an export is refused, of which nothing is added.
async fn refused(lines: &str) -> String {
    let inbox = Inbox::memory();
    let error = inbox.import(Cursor::new(lines)).await.unwrap_err();
    assert!(error.is_invalid() && !error.is_transient());
    assert_eq!(inbox.counts().await.unwrap().total(), 0);
    assert!(inbox.jobs(JobFilter::default()).await.unwrap().items.is_empty());
    error.to_string()
}

/// The lines with their numbers of entries, jobs and intents, and their hash.
fn ended(lines: &str, (entries, jobs, intents): (u64, u64, u64)) -> String {
    let sha256 = Digest::of(lines.as_bytes());
    format!(
        "{lines}{{\"kind\":\"end\",\"entries\":{entries},\"jobs\":{jobs},\"intents\":{intents},\"sha256\":\"{sha256}\"}}\n"
    )
}

fn without_end(lines: &str) -> &str {
    &lines[..lines.trim_end().rfind('\n').map_or(0, |end| end + 1)]
}

#[tokio::test]
async fn the_last_line_has_the_counts_and_the_hash_of_those_before() {
    let (scene, lines) = shop().await;
    assert_eq!(lines, ended(without_end(&lines), (2, 1, 0)));
    let mut dead = Vec::new();
    let filter = Filter { state: Some(State::Dead), ..Filter::default() };
    assert_eq!(scene.inbox.export_entries(filter, &mut dead).await.unwrap(), 1);
    let dead = String::from_utf8(dead).unwrap();
    assert_eq!(dead, ended(without_end(&dead), (1, 0, 0)));
    let empty = exported(&Inbox::memory()).await;
    assert_eq!(empty, ended("", (0, 0, 0)));
    assert_eq!(Inbox::memory().import(Cursor::new(empty)).await.unwrap().added, 0);
}

/// The error says to export again, or to import a part. Both are done, and lose nothing of what is there.
#[tokio::test]
async fn an_export_that_was_cut_off_anywhere_is_refused() {
    let (_, whole) = shop().await;
    let (mut start, mut entries) = (0, 0);
    for (number, line) in whole.split_inclusive('\n').enumerate() {
        let is_entry = u64::from(line.starts_with("{\"kind\":\"entry\""));
        // Before the line, in it, and after it but for its end. Without that, the last line is whole.
        let [before, middle, after] = [0, line.len() / 2, line.len() - 1].map(|at| start + at);
        for (end, added) in [(before, 0), (middle, 0), (after, is_entry)] {
            if end == whole.len() - 1 {
                continue;
            }
            let (cut, added) = (&whole[..end], entries + added);
            let last = number + usize::from(end > start);
            let expected = format!(
                "the export was cut off at line {last}, because its last line, with counts and a hash, is missing: {WAY_OUT}"
            );
            assert_eq!(refused(cut).await, expected, "after {end} bytes");

            let inbox = Inbox::memory();
            let imported = inbox.import_partial(cut.as_bytes()).await.unwrap();
            assert_eq!((imported.added, imported.present), (added, 0), "after {end} bytes");
            let imported = inbox.import(Cursor::new(&whole)).await.unwrap();
            assert_eq!((imported.added, imported.present), (2 - added, added));
        }
        (start, entries) = (start + line.len(), entries + is_entry);
    }
}

#[tokio::test]
async fn an_export_of_which_one_word_was_changed_is_refused() {
    let (_, whole) = shop().await;
    for (before, after) in [
        ("\"job_id\":\"job_1\",\"event\"", "\"job_id\":\"job_9\",\"event\""),
        ("\"state\":\"waiting\"", "\"state\":\"done\""),
        ("\"attempts\":0", "\"attempts\":1"),
        ("cancelled", "Cancelled"),
        ("\"polls\":0", "\"polls\":1"),
    ] {
        let changed = whole.replacen(before, after, 1);
        assert_ne!(changed, whole);
        let expected = format!(
            "the lines before line 4 are not those that were exported, because they have another SHA-256: {WAY_OUT}"
        );
        assert_eq!(refused(&changed).await, expected, "{after}");
        let imported = Inbox::memory().import_partial(changed.as_bytes()).await.unwrap();
        assert_eq!((imported.added, imported.ledger_added), (2, 1), "{after}");
    }
    let other_ends = whole.replace('\n', "\r\n");
    assert!(refused(&other_ends).await.starts_with("the lines before line 4 are not those"));
}

#[tokio::test]
async fn an_export_without_one_of_its_lines_is_refused() {
    let (_, whole) = shop().await;
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    for (without, found) in [
        (0, "2 entries, 0 jobs and 0 intents"),
        (1, "1 entries, 1 jobs and 0 intents"),
        (2, "1 entries, 1 jobs and 0 intents"),
    ] {
        let rest: String = [&lines[..without], &lines[without + 1..]].concat().concat();
        let expected = format!(
            "line 3 says that the export has 2 entries, 1 jobs and 0 intents, and it has {found}: {WAY_OUT}"
        );
        assert_eq!(refused(&rest).await, expected);
    }
    let swapped = [lines[0], lines[2], lines[1], lines[3]].concat();
    assert!(refused(&swapped).await.starts_with("the lines before line 4 are not those"));
}
