//! Ctrl-C.

use std::{
    process::{ChildStdin, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    running::{Running, until},
    sample,
    tool::{seen, text, tool},
};

#[test]
fn a_simulated_service_runs_until_ctrl_c() {
    let mut service = tool(["simulate", "--speed", "10000", "--order", "Shoes", "--json"]);
    let (mut service, started) = Running::start(&mut service);
    assert_eq!((&started["api_key"], &started["speed"]), (&"sk-simulator".into(), &10_000.into()));
    let job = service.next()["ordered"].as_str().unwrap().to_owned();

    let got =
        tool(["get", &job, "--wait", "--json", "--api-url", started["url"].as_str().unwrap()])
            .env("ARTICLE_API_KEY", "sk-simulator")
            .output()
            .unwrap();
    let (exit, out, error) = seen(&got);
    assert_eq!((exit, &*error), (Some(0), ""));
    let article: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(article["job_id"], *job);

    service.interrupt();
    assert_eq!(service.ended(), Some(0));
}

/// A process whose standard input stays open, once it has begun to read.
fn waiting_for_input(arguments: &[&str]) -> (Running, ChildStdin) {
    let mut waiting = tool([]);
    waiting.args(arguments).env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
    waiting.env("ARTICLE_API_KEY", "sk-1").env("ARTICLE_API_URL", "http://127.0.0.1:9");
    let waiting = waiting.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut waiting = Running::of(waiting);
    let input = waiting.process.stdin.take().unwrap();
    until("it does not handle the signal", || waiting.handles_ctrl_c().then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    (waiting, input)
}

#[tokio::test]
async fn a_command_that_waits_for_input_ends_at_ctrl_c_at_once_and_says_so() {
    let (_folder, file) = sample::inbox().await;
    let (file, input) = (text(&file), "/dev/stdin");
    for command in [
        &["inbox", "import", file][..],
        &["inbox", "import", file, input],
        &["collect", "--inbox", file, "--from", "-"],
        &["send", "http://127.0.0.1:9/", "--file", input],
        &["send", "http://127.0.0.1:9/", "--token-file", input],
        &["get", "job_1", "--api-key-file", input],
        &["brand", input],
    ] {
        for (json, says) in [
            (false, "error: interrupted\nfix:   repeat the command\n"),
            (
                true,
                "\"code\":\"failed\",\"error\":\"interrupted\",\"exit\":1,\"fix\":\"repeat the command\"}\n",
            ),
        ] {
            let command = if json { [command, &["--json"]].concat() } else { command.to_vec() };
            let (mut waiting, _open) = waiting_for_input(&command);
            let start = Instant::now();
            waiting.interrupt();
            let (exit, error) = waiting.ended_with_error();
            let took = start.elapsed();
            assert_eq!(exit, Some(1), "{command:?}");
            assert!(error.ends_with(says), "{command:?}: {error}");
            assert!(took < Duration::from_secs(10), "{command:?}: {took:?}");
        }
    }
}

/// The reader of the first line may end the process at once.
#[test]
fn a_signal_right_after_the_first_line_ends_in_order() {
    let (folder, file) = sample::place();
    let commands: [&[&str]; 3] = [
        &["simulate", "--json"],
        &["listen", "--no-page", "--port", "0", "--json", "--inbox", text(&file)],
        &["demo", "--page", "127.0.0.1:0"],
    ];
    for command in commands {
        for _ in 0..5 {
            let mut tool = tool([]);
            tool.args(command).env("ARTICLE_WEBHOOK_TOKEN", "Bearer 5f2b9c0e7a1d4e38");
            tool.env("TMPDIR", folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut process = Running::of(&mut tool);
            process.line();
            process.interrupt();
            process.lines.take().unwrap().for_each(drop);
            assert_eq!(process.ended(), Some(0), "{command:?}");
        }
    }
    let left = folder.path().read_dir().unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name != "inbox.db" && name != "inbox.db-lock").collect();
    assert!(left.is_empty(), "{left:?}");
}
