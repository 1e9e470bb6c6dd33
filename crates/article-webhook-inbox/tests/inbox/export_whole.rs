//! An export says in its last line what it is, and a part of one is not taken for a whole.

use std::{
    io::{self, Cursor, SeekFrom},
    pin::Pin,
    task::{Context, Poll},
};

use article_webhook_inbox::{Digest, Filter, Inbox, JobFilter, State};
use tokio::io::{AsyncRead, AsyncSeek, BufReader, BufWriter, ReadBuf};

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
async fn an_export_without_its_last_newline_is_whole() {
    let (_, whole) = shop().await;
    let inbox = Inbox::memory();
    assert_eq!(inbox.import(Cursor::new(whole.trim_end())).await.unwrap().added, 2);
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

/// Each of two exports in one file is imported by itself.
#[tokio::test]
async fn what_comes_after_the_end_is_refused() {
    let (_, whole) = shop().await;
    let other = Scene::new();
    other.deliver("job_4").await;
    let other = exported(&other.inbox).await;
    assert_eq!(
        refused(&format!("{whole}{other}")).await,
        "line 5 comes after the end of the export: import each export by itself"
    );
    let inbox = Inbox::memory();
    assert_eq!(inbox.import(Cursor::new(whole)).await.unwrap().added, 2);
    assert_eq!(inbox.import(Cursor::new(other)).await.unwrap().added, 1);
}

/// Nothing is added of an export with a line that cannot be read, and the error names it.
#[tokio::test]
async fn an_export_with_a_wrong_line_is_refused_whole() {
    let (_, whole) = shop().await;
    let wrong = whole.replacen("\"attempts\":0", "\"attempts\":-1", 1);
    let number = 1 + wrong.lines().position(|line| line.contains(":-1")).unwrap();
    let error = refused(&wrong).await;
    assert!(error.starts_with(&format!("line {number} is no entry: another kind")), "{error}");
    // Where the export begins in a file is where the reader stands.
    let mut later = Cursor::new(format!("a heading\n{whole}"));
    later.set_position("a heading\n".len() as u64);
    assert_eq!(Inbox::memory().import(later).await.unwrap().added, 2);
}

/// A disk that fails in the middle of a line.
struct Failing<'a>(&'a [u8]);

impl AsyncRead for Failing<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.0.is_empty() {
            return Poll::Ready(Err(io::Error::other("the disk fails")));
        }
        Pin::new(&mut self.0).poll_read(context, to)
    }
}

impl AsyncSeek for Failing<'_> {
    fn start_seek(self: Pin<&mut Self>, _: SeekFrom) -> io::Result<()> {
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(0))
    }
}

/// Otherwise what the reader could not read would be taken for what is missing.
#[tokio::test]
async fn an_export_that_cannot_be_read_on_is_not_taken_for_one_that_was_cut_off() {
    let (_, whole) = shop().await;
    let second = whole.find('\n').unwrap() + 20;
    let failing = || BufReader::new(Failing(&whole.as_bytes()[..second]));
    let inbox = Inbox::memory();
    let errors = [
        inbox.import(failing()).await.unwrap_err(),
        inbox.import_partial(failing()).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "line 2 cannot be read");
        assert!(error.is_transient());
    }
}

/// The pipe is shorter than a line, so that each side waits for the other. What the buffer has at the end is written.
#[tokio::test]
async fn one_thread_exports_and_imports_at_once() {
    let (from, _) = shop().await;
    let to = Inbox::memory();
    let (out, lines) = tokio::io::duplex(16);
    let (exported, imported) = tokio::join!(
        from.inbox.export(BufWriter::new(out)),
        to.import_partial(BufReader::new(lines))
    );
    assert_eq!((exported.unwrap(), imported.unwrap().added), (2, 2));
}

#[tokio::test]
async fn other_tasks_run_while_an_export_is_read_that_is_in_memory() {
    let other = tokio::spawn(async {});
    let empty = Cursor::new("\n".repeat(1000));
    assert!(Inbox::memory().import(empty).await.is_err(), "it has no end");
    assert!(other.is_finished());
}
