//! What other programs see: pipes that close, JSON, and files.

use std::{
    fs::OpenOptions,
    io::{BufRead, BufReader, Read},
    process::Stdio,
    time::Duration,
};

use article_webhook::fixture;
use article_webhook_inbox::{Inbox, SqliteStore, store::Store};
use serde_json::Value;

use crate::{
    sample,
    tool::{fails, run, seen, text, tool},
};

/// What a terminal shows as nothing, or by which it shows text in another order.
const HOSTILE: [char; 4] = ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}'];

/// Whether a terminal could act on it, or show text in another way.
fn is_hostile(character: char) -> bool {
    (character.is_control() && character != '\n') || HOSTILE.contains(&character)
}

#[tokio::test]
async fn nothing_from_outside_reaches_a_terminal_as_it_is() {
    let (_folder, file) = sample::inbox().await;
    for form in ["--json", "--read-only"] {
        for arguments in [
            vec!["inbox", "list", text(&file), form],
            vec!["inbox", "show", text(&file), "job_dead", form],
            vec!["inbox", "show", text(&file), "job_7c1e4a52", form],
            vec!["inbox", "requeue", text(&file), "--all", "--dry-run", form],
        ] {
            let (exit, out, _) = run(&arguments);
            assert_eq!(exit, Some(0), "{arguments:?}");
            assert!(!out.is_empty() && !out.chars().any(is_hostile), "{arguments:?}: {out:?}");
        }
    }
    fails(
        &["inbox", "show", text(&file), "job_\u{202e}"],
        3,
        "error: no entry of \"job_\\u{202e}\"\nfix:   ",
    );
    assert!(
        !run(&["inbox", "list", text(&file), "--state", "\u{1b}[2J"]).2.chars().any(is_hostile)
    );
}

#[tokio::test]
async fn a_closed_pipe_ends_the_tool_quietly() {
    let (_folder, file) = sample::place();
    let inbox = Inbox::new(SqliteStore::open(&file).unwrap());
    for number in 0..200 {
        sample::deliver(&inbox, fixture::complete().job_id(&format!("job_{number}"))).await;
    }
    for arguments in [["list", "--all"], ["export", "--json"]] {
        let [command, option] = arguments;
        let mut child = tool(["inbox", command, text(&file), option])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!((child.wait().unwrap().code(), &*error), (Some(0), ""), "{command}");
    }
}

#[tokio::test]
async fn what_cannot_be_written_is_a_failure() {
    let (_folder, file) = sample::inbox().await;
    for arguments in [
        &["--help"][..],
        &["help", "inbox"],
        &["--version"],
        &["completions", "bash"],
        &["inbox", "list", text(&file)],
        &["inbox", "export", text(&file)],
        &["demo", "--headless"],
    ] {
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else { return };
        let (exit, _, error) = seen(&tool([]).args(arguments).stdout(full).output().unwrap());
        assert_eq!(exit, Some(1), "{arguments:?}: {error}");
        let why = "error: cannot write the output: no storage space";
        let why_at_once = "error: cannot write the output: No space left on device";
        let says = error.starts_with(why_at_once) || error.starts_with(why);
        assert!(says, "{arguments:?}: {error}");
        let fix = "make room for the output; if the command changes something, see first whether it is done";
        assert!(error.contains(fix), "{arguments:?}: {error}");
    }
}

#[tokio::test]
async fn an_export_is_imported_into_another_inbox_while_its_receiver_runs() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to, lines] = ["from.db", "to.db", "lines"].map(|name| folder.path().join(name));
    sample::fill(&from).await;
    let receiver = Inbox::new(SqliteStore::open(&to).unwrap());

    let exported = run(&["inbox", "export", text(&from), "--output", text(&lines)]);
    assert_eq!(exported, (Some(0), "exported 5 entries\n".to_owned(), String::new()));
    let import = || run(&["inbox", "import", text(&to), text(&lines), "--json"]);
    assert!(import().1.ends_with(",\"added\":5,\"present\":0}\n"));
    assert!(import().1.ends_with(",\"added\":0,\"present\":5}\n"));
    assert_eq!(receiver.counts().await.unwrap().total(), 5);
}

#[tokio::test]
async fn an_export_can_be_filtered_as_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let [from, lines] = ["from.db", "lines"].map(|name| folder.path().join(name));
    sample::fill(&from).await;
    let store = SqliteStore::open(&from).unwrap();
    store.intend("post-17", Duration::from_secs(60), sample::BUCKET.key, None).await.unwrap();
    store.close().await.unwrap();
    let run = |command: &str, filter: &[&str]| {
        let (exit, out, error) =
            run(&[&["inbox", command, text(&from), "--json"], filter].concat());
        let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let jobs: Vec<_> = lines.map(|line| line["job_id"].as_str().map(str::to_owned)).collect();
        (exit, jobs, error)
    };
    assert_eq!(run("export", &[]).1.len(), 7, "with the intent and the end");
    for filter in [
        &["--state", "dead"][..],
        &["--job", "job_waits"],
        &["--target", "default"],
        &["--event", "article.complete", "--older-than", "0s"],
        &["--search", "RUNNING"],
        &["--cause", "no article", "--since", "1h"],
    ] {
        let mut exported = run("export", filter);
        assert_eq!(exported.1.pop(), Some(None), "the end");
        assert_eq!(exported, run("list", &[filter, &["--all"]].concat()), "{filter:?}");
    }
    assert_eq!(run("export", &["--state", "dead"]).1, [Some("job_dead".to_owned()), None]);
    assert_eq!(run("export", &["--target", "shop"]).0, Some(3), "nothing matches");
    assert_eq!(run("list", &["--target", "shop"]).0, Some(0), "an empty list is one");

    let output = ["--state", "leased", "--output", text(&lines)];
    assert_eq!(run("export", &output).0, Some(3));
    assert!(!lines.exists(), "a file appears whole or not at all");
    let output = ["--state", "dead", "--output", text(&lines)];
    assert_eq!(run("export", &output).0, Some(0));
    assert_eq!(std::fs::read_to_string(&lines).unwrap().lines().count(), 2);
}
