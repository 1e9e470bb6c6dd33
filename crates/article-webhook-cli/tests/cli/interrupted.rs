//! What a command says that Ctrl-C interrupted, when something may have been done already.

use std::{
    io::Read,
    net::TcpListener,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use rusqlite::Connection;

use crate::{
    running::Running,
    sample,
    tool::{text, tool},
};

/// Its exit code and what it says, interrupted once `is_time`.
fn interrupted(command: &mut Command, is_time: impl FnOnce()) -> (Option<i32>, String) {
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running::of(command);
    is_time();
    running.interrupt();
    running.ended_with_error()
}

/// A service that takes a request and does not answer.
fn order(service: &TcpListener, options: &[&str]) -> Command {
    let mut order = tool(["order", "Shoes"]);
    order.args(options).env("ARTICLE_API_KEY", "sk-1");
    order.env("ARTICLE_API_URL", format!("http://{}", service.local_addr().unwrap()));
    order
}

#[tokio::test]
async fn an_order_that_is_interrupted_is_reported_with_an_unknown_outcome() {
    let (_folder, file) = sample::inbox().await;
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    // Its connections stay open.
    let mut connections = Vec::new();
    let mut is_taken = || {
        let mut stream = service.accept().unwrap().0;
        stream.read_exact(&mut [0; 64]).unwrap();
        connections.push(stream);
    };
    let says = "error: interrupted: it is not known whether the service took the order\nfix:   ";
    let (exit, error) = interrupted(&mut order(&service, &[]), &mut is_taken);
    let look = format!("{says}look at the service before you order it again");
    assert_eq!((exit, error.starts_with(&look)), (Some(1), true), "{error}");

    let intent = ["--intent", "post-17", "--inbox", text(&file)];
    let (exit, error) = interrupted(&mut order(&service, &intent), &mut is_taken);
    let repeat = format!("{says}repeat the command: the inbox remembers the intent");
    assert_eq!((exit, error.starts_with(&repeat)), (Some(1), true), "{error}");
}

#[tokio::test]
async fn a_change_in_bulk_that_is_interrupted_says_how_much_was_done() {
    let (_folder, file) = sample::inbox().await;
    // The changes of the tool wait for it.
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // On a busy machine it may take longer until it has selected them.
    let (exit, error) = [1, 4, 16]
        .into_iter()
        .map(|seconds| {
            let mut erase = tool(["inbox", "erase", text(&file), "--all", "--yes"]);
            interrupted(&mut erase, || thread::sleep(Duration::from_secs(seconds)))
        })
        .find(|(_, error)| error.contains("erased"))
        .expect("it is interrupted while it changes entries");
    let says = "error: interrupted: erased at least 0 of 5 entries\nfix:   repeat the command for the others\n";
    assert_eq!((exit, &*error), (Some(1), says));
    other.execute_batch("ROLLBACK").unwrap();
}
