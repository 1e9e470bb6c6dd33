//! What `listen` says when it starts.

use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
};

use rusqlite::Connection;

use crate::{
    running::{Running, until},
    tool::{text, tool},
};

const IS_SHORT: &str = "the token has fewer than 16 characters";

/// Standard error of a receiver with a short token, up to the warning of it.
fn warned(inbox: &Path) -> String {
    let path = inbox.with_extension("log");
    let mut listen = tool(["listen", "--no-page", "--port", "0", "--inbox", text(inbox)]);
    listen.env("ARTICLE_WEBHOOK_TOKEN", "Bearer abc").stdout(Stdio::piped());
    let _process = Running::of(listen.stderr(File::create(&path).unwrap()));
    until("it says nothing of the token", || {
        let log = fs::read_to_string(&path).unwrap();
        log.contains(IS_SHORT).then_some(log)
    })
}

#[test]
fn a_token_that_can_be_guessed_and_a_file_that_is_shared_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let [own, shared] = ["inbox.db", "shop.db"].map(|name| folder.path().join(name));
    let is_shared = "shop.db has tables of another program, which shares the file with the inbox\n";
    for _ in 0..2 {
        assert!(!warned(&own).contains("tables of another program"));
    }
    let shop = Connection::open(&shared).unwrap();
    shop.execute_batch("CREATE TABLE shop_orders (id INTEGER PRIMARY KEY)").unwrap();
    let log = warned(&shared);
    assert!(log.contains(is_shared), "{log}");
}
