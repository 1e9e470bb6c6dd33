//! Questions and colours on a terminal.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use serde_json::Value;

use crate::{
    sample,
    tool::{has, text, tool},
};

/// Both ends of a terminal: the person's, and the program's.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (person.into(), program)
}

/// What a program shows on a terminal until it ends. Each time that it has shown more, `on` may do what the person does.
fn shown(mut person: File, mut on: impl FnMut(&str, &mut File)) -> String {
    let (mut shown, mut chunk) = (Vec::new(), [0; 4096]);
    // An error: the program has ended, and with it its end of the terminal.
    while let Ok(read @ 1..) = person.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..read]);
        on(&String::from_utf8_lossy(&shown), &mut person);
    }
    String::from_utf8(shown).unwrap()
}

/// Runs the tool on a terminal, and answers its question. Returns the exit code, the terminal's text and standard output.
pub(crate) fn answered(tool: &mut Command, answer: &str) -> (Option<i32>, String, String) {
    answered_after(tool, "[y/N]\r", answer)
}

/// The same, with what is shown before it reads.
fn answered_after(
    tool: &mut Command,
    question: &str,
    answer: &str,
) -> (Option<i32>, String, String) {
    let (person, program) = terminal();
    tool.stdin(program.try_clone().unwrap()).stderr(program).stdout(Stdio::piped());
    let mut running = tool.spawn().unwrap();
    // The command holds the program's end, and nothing would be read after the last line.
    tool.stdin(Stdio::null()).stderr(Stdio::null());
    let mut is_answered = false;
    let shown = shown(person, |shown, person| {
        if !is_answered && shown.contains(question) {
            person.write_all(answer.as_bytes()).unwrap();
            is_answered = true;
        }
    });
    let mut out = String::new();
    running.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (running.wait().unwrap().code(), shown, out)
}

/// Runs the tool with a terminal for all that it shows, until it ends, or by Ctrl-C once it has shown this. Returns what
/// it has shown.
fn shown_until(tool: &mut Command, until: &str) -> String {
    let (person, program) = terminal();
    tool.stdout(program.try_clone().unwrap()).stderr(program);
    let mut running = tool.spawn().unwrap();
    tool.stdout(Stdio::null()).stderr(Stdio::null());
    let shown = shown(person, |shown, _| {
        // Again, as it may not have listened yet.
        while shown.contains(until) && running.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&running), Signal::INT).unwrap();
            sleep(Duration::from_millis(20));
        }
    });
    running.wait().unwrap();
    shown
}

#[tokio::test]
async fn a_list_is_cut_to_the_width_of_a_terminal() {
    let (_folder, file) = sample::inbox().await;
    let mut list = tool(["inbox", "list", text(&file)]);
    let (person, program) = terminal();
    let size = Winsize { ws_row: 24, ws_col: 90, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&person, size).unwrap();
    let mut running = list.env("NO_COLOR", "1").stdout(program).spawn().unwrap();
    list.stdout(Stdio::null());
    let shown = shown(person, |_, _| ());
    assert!(running.wait().unwrap().success());
    let widths = shown.lines().map(|line| line.trim_end().chars().count());
    assert_eq!(widths.max(), Some(90), "{shown}");
    assert!(shown.contains("job_dead ") && shown.contains("…"), "{shown}");
}

const NEVER: &str = "\u{0}";

#[tokio::test]
async fn a_terminal_gets_colours_unless_it_or_its_user_wants_none() {
    let folder = tempfile::tempdir().unwrap();
    let [file, new] = ["inbox.db", "new.db"].map(|name| folder.path().join(name));
    sample::fill(&file).await;
    let list = ["inbox", "list", text(&file)];
    let commands: [(&[&str], &str, &str); 4] = [
        (&list, NEVER, "job_dead"),
        // An error, on standard error.
        (&["inbox", "list", text(&new)], NEVER, "does not exist"),
        (&["inbox", "--help"], NEVER, "Usage:"),
        // The log, which warns of a token that can be guessed.
        (&["listen", "--no-page", "--port", "0", "--inbox", text(&new)], "WARN", "WARN"),
    ];
    for (arguments, until, has) in commands {
        for (variables, is_coloured) in [
            ([("NO_COLOR", None), ("TERM", Some("xterm"))], true),
            ([("NO_COLOR", Some("")), ("TERM", Some("xterm"))], true),
            ([("NO_COLOR", Some("1")), ("TERM", Some("xterm"))], false),
            ([("NO_COLOR", None), ("TERM", Some("dumb"))], false),
        ] {
            let mut run = tool([]);
            run.args(arguments).env("ARTICLE_WEBHOOK_TOKEN", "Bearer 1234");
            // Where it is set, the parser of the arguments would colour any terminal.
            run.env("CI", "true");
            for (name, value) in variables {
                match value {
                    Some(value) => run.env(name, value),
                    None => run.env_remove(name),
                };
            }
            let shown = shown_until(&mut run, until);
            assert!(shown.contains(has), "{arguments:?}: {shown}");
            // A line of progress is wiped away, which is no colour, and which a dumb terminal cannot do.
            let rest = match variables[1].1 {
                Some("dumb") => shown.clone(),
                _ => shown.replace("\u{1b}[K", ""),
            };
            assert_eq!(rest.contains("\u{1b}["), is_coloured, "{variables:?}: {shown:?}");
        }
    }
    for arguments in [&["--json"][..], &["--json", "--limit", "1"]] {
        let mut run = tool(list);
        let shown =
            shown_until(run.args(arguments).env_remove("NO_COLOR").env("TERM", "xterm"), NEVER);
        let is_plain = !shown.replace("\u{1b}[K", "").contains('\u{1b}');
        assert!(shown.starts_with('{') && is_plain, "{shown:?}");
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

#[tokio::test]
async fn an_import_says_that_it_reads_the_terminal() {
    let (_folder, file) = sample::inbox().await;
    let mut import = tool(["inbox", "import", text(&file), "--partial"]);
    let (exit, shown, out) = answered_after(&mut import, "Ctrl-D ends them", "\u{4}");
    assert_eq!((exit, &*out), (Some(0), "added 0 entries; 0 were there already\n"), "{shown}");
}

#[tokio::test]
async fn json_is_never_asked_about() {
    let (_folder, file) = sample::inbox().await;
    let mut erase = tool(["inbox", "erase", text(&file), "--all", "--json"]);
    let (exit, shown, _) = answered(&mut erase, "y\n");
    assert_eq!(exit, Some(2), "{shown}");
    assert!(shown.contains("needs a confirmation"), "{shown}");
}
