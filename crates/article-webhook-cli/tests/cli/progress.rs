//! What a terminal shows while work lasts, and a pipe does not.

use crate::{
    sample,
    terminal::answered,
    tool::{seen, text, tool},
};

#[tokio::test]
async fn work_on_an_inbox_shows_on_a_terminal_what_it_does() {
    let (folder, file) = sample::inbox().await;
    let lines = folder.path().join("lines");
    let export = tool(["inbox", "export", text(&file), "--output", text(&lines)]).status();
    assert!(export.unwrap().success());
    for (arguments, shows) in [
        (&["status", "--full"][..], "\r\u{1b}[Klooking for damage, for 0 s"),
        (&["export"], "\r\u{1b}[Kexporting, for 0 s"),
        (&["import", text(&lines)], "\r\u{1b}[Kimporting, for 0 s"),
        (&["requeue", "--all", "--dry-run"], "\r\u{1b}[Kselected 1 entry"),
        (&["requeue", "--all", "--yes"], "\r\u{1b}[Krequeued 1 of 2"),
        (&["discard", "--all", "--yes"], "\r\u{1b}[Kselected 4 entries"),
    ] {
        let command = || {
            let mut command = tool(["inbox", arguments[0], text(&file)]);
            command.args(&arguments[1..]);
            command
        };
        let (exit, shown, _) = answered(&mut command(), "");
        assert!(exit.is_some() && shown.contains(shows), "{arguments:?}: {shown:?}");
        let (_, after) = shown.split_once(shows).unwrap();
        assert!(after.contains("\r\u{1b}[K"), "it is removed again: {shown:?}");

        let (_, _, error) = seen(&command().output().unwrap());
        assert!(!error.contains('\r'), "{arguments:?}: {error:?}");
    }
}
