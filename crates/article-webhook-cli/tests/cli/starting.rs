//! What `listen` says when it starts.

use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
};

use rusqlite::Connection;

use crate::{
    running::{Running, until},
    tool::{seen, text, tool},
};

const IS_SHORT: &str = "the token has fewer than 16 characters";

/// Standard error of a receiver with a short token, up to the warning of it.
fn warned(inbox: &Path) -> String {
    let path = inbox.with_extension("log");
    let mut listen = tool(["listen", "--no-page", "--port", "0", "--inbox", text(inbox)]);
    listen.env("ARTICLE_WEBHOOK_TOKEN", "Bearer abc").stdout(Stdio::piped());
    let _process = Running(listen.stderr(File::create(&path).unwrap()).spawn().unwrap());
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

#[test]
fn a_start_that_fails_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let files = || {
        let files = fs::read_dir(folder.path()).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, port) = (taken.local_addr().unwrap(), taken.local_addr().unwrap().port());
    let inbox = folder.path().join("inbox.db");
    for (options, exit, says) in [
        (["--port", &*port.to_string()], 1, "cannot listen on port"),
        (["--page", &*address.to_string()], 1, "cannot show the page on"),
        (["--page", "0.0.0.0:0"], 2, "can be reached by other machines"),
    ] {
        let port: &[&str] = if options[0] == "--port" { &[] } else { &["--port", "0"] };
        let mut listen = tool(["listen", "--inbox", text(&inbox)]);
        listen.args(options).args(port).env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
        let (code, out, error) = seen(&listen.output().unwrap());
        assert_eq!((code, &*out), (Some(exit), ""), "{error}");
        assert!(error.contains(says), "{error}");
        assert_eq!(files(), [""; 0], "{options:?}");
    }
    fs::write(&inbox, "notes of another program\n").unwrap();
    let mut listen = tool(["listen", "--port", "0", "--no-page", "--inbox", text(&inbox)]);
    let refused = listen.env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38").output().unwrap();
    let (code, _, error) = seen(&refused);
    assert_eq!(code, Some(5), "{error}");
    assert!(error.contains("is not a SQLite database"), "{error}");
    assert!(error.contains("\nfix:   name another file"), "{error}");
    assert_eq!(files(), ["inbox.db"]);
}
