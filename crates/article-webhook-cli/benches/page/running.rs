//! The tool with its page, as a process.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
};

use reqwest::Client;
use serde_json::Value;

pub(crate) const TOKEN: &str = "Bearer 5f2b9c0e7a1d4e38";

pub(crate) struct Running {
    pub(crate) process: Child,
    /// Where articles are delivered; empty where only the page runs.
    pub(crate) receiver: String,
    /// The URL of the page with its key, and without.
    page: String,
    pub(crate) base: String,
}

impl Running {
    /// `command` ends where the inbox follows.
    pub(crate) fn start(command: &[&str], inbox: impl AsRef<OsStr>) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_article-webhook"))
            .args(command)
            .arg(inbox)
            .arg("--json")
            .env("ARTICLE_WEBHOOK_TOKEN", TOKEN)
            .env_remove("ARTICLE_INBOX_READ_ONLY")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap();
        // It prints a line for each delivery.
        std::thread::spawn(move || output.read_to_end(&mut Vec::new()));
        let text = |name: &str| started[name].as_str().unwrap_or_default().to_owned();
        let page = text("page");
        let base = page.split("/?key=").next().unwrap().to_owned();
        Self { process, receiver: text("listening"), page, base }
    }

    /// What the browser gets for the key.
    pub(crate) async fn cookie(&self, http: &Client) -> String {
        let opened = http.get(&self.page).send().await.unwrap();
        let cookie = opened.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
