//! The tool with its page, as a process.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;

pub(crate) const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

pub(crate) struct Running {
    pub(crate) process: Child,
    /// Kept open, so that the process does not end because nothing reads its output.
    _output: BufReader<ChildStdout>,
    /// With the key.
    pub(crate) url: String,
    /// Without it: the origin, and the random part of the path.
    pub(crate) base: String,
    #[allow(dead_code, reason = "one of the two tests that share this file has it")]
    pub(crate) origin: String,
    /// Where articles are delivered; empty where only the page runs.
    pub(crate) receiver: String,
}

impl Running {
    /// A receiver with its page.
    pub(crate) fn listen(file: &Path) -> Self {
        Self::start(["listen", "--port", "0", "--inbox"].map(OsStr::new), file, &[])
    }

    /// The page of an inbox alone.
    pub(crate) fn page(file: &Path, more: &[&str]) -> Self {
        Self::start(["inbox", "page"].map(OsStr::new), file, more)
    }

    /// The whole loop.
    #[allow(dead_code, reason = "one of the two tests that share this file has it")]
    pub(crate) fn demo(file: &Path) -> Self {
        Self::start(["demo", "--inbox"].map(OsStr::new), file, &[])
    }

    fn start<const N: usize>(command: [&OsStr; N], file: &Path, more: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_article-webhook"))
            .args(command)
            .arg(file)
            .args(more)
            .arg("--json")
            .env("ARTICLE_WEBHOOK_TOKEN", TOKEN)
            .env_remove("ARTICLE_INBOX_READ_ONLY")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| started[name].as_str().unwrap_or_default().to_owned();
        let url = text("page");
        let base = url.split("/?key=").next().unwrap().to_owned();
        let origin = base.rsplit_once('/').unwrap().0.to_owned();
        Self { process, _output: output, url, base, origin, receiver: text("listening") }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
