//! What `listen` says when it starts.

use std::{
    fs::{self, File},
    process::Stdio,
};

use crate::{
    running::{Running, until},
    sample,
    tool::{text, tool},
};

#[test]
fn a_token_that_can_be_guessed_is_reported() {
    let (folder, file) = sample::place();
    let log = folder.path().join("log");
    let mut listen = tool(["listen", "--no-page", "--port", "0", "--inbox", text(&file)]);
    listen.env("ARTICLE_WEBHOOK_TOKEN", "Bearer abc").stdout(Stdio::piped());
    let _process = Running::of(listen.stderr(File::create(&log).unwrap()));
    until("it says nothing of the token", || {
        let log = fs::read_to_string(&log).unwrap();
        log.contains("the token has fewer than 16 characters").then_some(())
    });
}
