//! Questions and colours on a terminal.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::Path,
    process::{Command, Stdio},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::{
    sample,
    tool::{has, text, tool},
};

/// Runs the tool on a terminal, and answers its question. Returns the exit code, the terminal's text and standard output.
pub(crate) fn answered(tool: &mut Command, answer: &str) -> (Option<i32>, String, String) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tool.stdin(program.try_clone().unwrap()).stderr(program).stdout(Stdio::piped());
    let mut running = tool.spawn().unwrap();
    // The command holds the program's end, and nothing would be read after the last line.
    tool.stdin(Stdio::null()).stderr(Stdio::null());
    let mut person = File::from(person);
    let (mut shown, mut chunk, mut is_answered) = (Vec::new(), [0; 4096], false);
    // An error: the program has ended, and with it its end of the terminal.
    while let Ok(read @ 1..) = person.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..read]);
        if !is_answered && String::from_utf8_lossy(&shown).contains("[y/N]\r") {
            person.write_all(answer.as_bytes()).unwrap();
            is_answered = true;
        }
    }
    let mut out = String::new();
    running.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (running.wait().unwrap().code(), String::from_utf8(shown).unwrap(), out)
}

#[test]
fn a_terminal_gets_colours_unless_it_or_its_user_wants_none() {
    for (variables, is_coloured) in [
        ([("NO_COLOR", None), ("TERM", Some("xterm"))], true),
        ([("NO_COLOR", Some("")), ("TERM", Some("xterm"))], true),
        ([("NO_COLOR", Some("1")), ("TERM", Some("xterm"))], false),
        ([("NO_COLOR", None), ("TERM", Some("dumb"))], false),
    ] {
        let mut run = tool(["inbox", "list", "nowhere.db"]);
        // Where it is set, the parser of the arguments would colour any terminal.
        run.env("CI", "true");
        for (name, value) in variables {
            match value {
                Some(value) => run.env(name, value),
                None => run.env_remove(name),
            };
        }
        let (_, shown, _) = answered(&mut run, "");
        // A line of progress is wiped away, which is no colour.
        let rest = shown.replace("\u{1b}[K", "");
        assert!(rest.contains("does not exist"), "{shown}");
        assert_eq!(rest.contains("\u{1b}["), is_coloured, "{variables:?}: {shown:?}");
    }
}

fn states(file: &Path) -> String {
    let output = tool(["inbox", "status", text(file), "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    status["entries"].to_string()
}

#[tokio::test]
async fn a_change_in_bulk_asks_on_a_terminal_and_only_a_yes_is_one() {
    let (_folder, file) = sample::inbox().await;
    let before = states(&file);
    let mut erase = tool(["inbox", "erase", text(&file), "--all"]);
    // The last is the end of the input.
    for answer in ["n\n", "\n", "yes please\n", "\u{4}"] {
        let (exit, shown, out) = answered(&mut erase, answer);
        assert_eq!(exit, Some(1), "{answer:?}: {shown}");
        has(&shown, &["erase 5 entries? [y/N]", "nothing was changed"]);
        assert!(shown.ends_with(" answer y, or add --yes\r\n"), "{answer:?}: {shown}");
        assert!(out.contains("    1  dead       the blog is down"), "counts by cause: {out}");
        assert_eq!(states(&file), before, "{answer:?}");
    }
    let mut requeue = tool(["inbox", "requeue", text(&file), "--state", "dead"]);
    let (exit, shown, out) = answered(&mut requeue, "y\n");
    assert_eq!(exit, Some(0), "{shown}");
    assert!(out.ends_with("requeued 1 entry\n"), "{out}");
    let (exit, shown, out) = answered(&mut erase, "yes\n");
    assert_eq!(exit, Some(0), "{shown}");
    assert!(out.ends_with("erased 5 entries\n"), "{out}");
}

#[tokio::test]
async fn nothing_is_asked_that_was_answered_or_that_names_its_jobs() {
    let (_folder, file) = sample::inbox().await;
    for arguments in [&["--all", "--dry-run"][..], &["--state", "dead", "--yes"], &["job_7c1e4a52"]]
    {
        let mut requeue = tool(["inbox", "requeue", text(&file)]);
        let (exit, shown, _) = answered(requeue.args(arguments), "");
        assert_eq!(exit, Some(0), "{arguments:?}: {shown}");
        assert!(!shown.contains("[y/N]"), "{arguments:?}: {shown}");
    }
}
