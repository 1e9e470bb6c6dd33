//! The tool's process.

use std::{
    env,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};

/// A token that a receiver can have.
pub(crate) const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

/// The variables that the tool reads. Those of a developer must not reach an inbox that is in use.
pub(crate) const VARIABLES: [&str; 5] = [
    "ARTICLE_API_KEY",
    "ARTICLE_API_URL",
    "ARTICLE_INBOX",
    "ARTICLE_INBOX_READ_ONLY",
    "ARTICLE_WEBHOOK_TOKEN",
];

/// The tool, without the variables and the colours of the terminal.
pub(crate) fn tool<const N: usize>(arguments: [&str; N]) -> Command {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_article-webhook"));
    for name in VARIABLES {
        tool.env_remove(name);
    }
    tool.args(arguments).stdin(Stdio::null());
    tool
}

/// What a command prints that has a token, and how it ends.
pub(crate) fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    ended(tool([]).args(arguments).env("ARTICLE_WEBHOOK_TOKEN", TOKEN))
}

/// The same of a command that calls the service at this URL.
pub(crate) fn run_at(service: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut tool = tool([]);
    tool.args(arguments).env("ARTICLE_API_URL", service).env("ARTICLE_API_KEY", "sk-simulator");
    ended(&mut tool)
}

/// The exit code, standard output and standard error of a command, which ends within two minutes. Else it is killed with all that
/// it has started.
pub(crate) fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let process = command.spawn().unwrap();
    let id = Pid::from_child(&process);
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(process.wait_with_output()));
    let output = ended.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| {
        kill_process_group(id, Signal::KILL).unwrap();
        panic!("{command:?}: it does not end");
    });
    seen(&output.unwrap())
}

/// A command fails with this exit code, and its error has these words.
#[track_caller]
pub(crate) fn fails(arguments: &[&str], exit: i32, says: &str) {
    let (code, out, error) = run(arguments);
    assert_eq!((code, &*out), (Some(exit), ""), "{arguments:?}: {error}");
    assert!(error.contains(says), "{arguments:?}: {error}");
}

/// A text has each of these parts.
#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The exit code, standard output and standard error.
pub(crate) fn seen(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Says what is skipped, past the capture of tests that pass.
pub(crate) fn skipped(what: &str) {
    io::stdout().write_all(format!("cli: skipped: {what}\n").as_bytes()).unwrap();
}

/// The same for what an installation would add, and which CI has to have.
#[track_caller]
pub(crate) fn not_installed(what: &str) {
    assert!(env::var_os("CI").is_none(), "{what}");
    skipped(what);
}
