//! The tool and files that are damaged.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    sample,
    tool::{self, text},
};

type Change = fn(&mut Vec<u8>);

/// An inbox whose file was changed.
async fn damaged(change: impl FnOnce(&mut Vec<u8>)) -> (TempDir, PathBuf) {
    let (folder, file) = sample::inbox().await;
    let mut bytes = fs::read(&file).unwrap();
    change(&mut bytes);
    fs::write(&file, bytes).unwrap();
    (folder, file)
}

/// Changes one letter of a body.
pub(crate) fn flip_a_body(bytes: &mut [u8]) {
    const WORD: &[u8] = b"\"html\":\"<";
    let place = bytes.windows(WORD.len()).position(|word| word == WORD);
    bytes[place.expect("a body lies in the file as it came") + 10] ^= 1;
}

fn run(file: &Path, command: &[&str]) -> (Option<i32>, String, String) {
    let (command, arguments) = command.split_first().unwrap();
    tool::run(&[&["inbox", command, text(file)], arguments].concat())
}

#[tokio::test]
async fn a_flipped_bit_is_reported_and_its_bytes_are_given_to_no_other_inbox() {
    let (folder, file) = damaged(|bytes| flip_a_body(bytes)).await;
    let (exit, out, _) = run(&file, &["status", "--full", "--json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((exit, &found["well"]), (Some(1), &false.into()));
    assert_eq!(found["damage"].as_array().unwrap().len(), 1, "{out}");
    let (exit, out, _) = run(&file, &["status", "--full"]);
    assert!(exit == Some(1) && out.contains("\ndamage      "), "{out}");

    let lines = folder.path().join("lines");
    let (exit, _, error) = run(&file, &["export", "--output", text(&lines)]);
    assert_eq!((exit, &*error), (Some(0), ""));
    let exported = fs::read_to_string(&lines).unwrap();
    let lines = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let bodies = lines.map(|line| line["bodies"][0]["body"].is_string());
    assert_eq!(bodies.filter(|has_bytes| *has_bytes).count(), 4, "one of five has no bytes");
    assert!(!exported.contains("Iow to Choose"));
}

#[tokio::test]
async fn a_file_that_is_cut_or_overwritten_is_refused_and_stays_as_it_is() {
    let cases: [(&str, Change); 5] = [
        ("empty", Vec::clear),
        ("cut", |bytes| bytes.truncate(bytes.len() / 2)),
        ("short", |bytes| bytes.truncate(60)),
        ("no header", |bytes| bytes[..100].fill(0)),
        ("zeroed", |bytes| bytes[100..].fill(0)),
    ];
    for (name, change) in cases {
        let (_folder, file) = damaged(change).await;
        let before = fs::read(&file).unwrap();
        for command in [
            &["list"][..],
            &["show", "job_dead"],
            &["status", "--full"],
            &["status", "--read-only"],
            &["export"],
            &["requeue", "job_dead"],
            &["erase", "--all", "--yes"],
        ] {
            let (exit, _, error) = run(&file, command);
            let shown = format!("{name}: {command:?}: {exit:?} {error}");
            // 1: damage found, 3: nothing matched, 5: the inbox cannot be used.
            assert!(matches!(exit, Some(1 | 3 | 5)), "{shown}");
            assert!(!error.contains("panicked") && !error.contains("SELECT"), "{shown}");
            assert_eq!(fs::read(&file).unwrap(), before, "{shown}");
        }
    }
}
