//! Ctrl-C.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    sample,
    tool::{seen, text, tool},
};

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn a_simulated_service_runs_until_ctrl_c() {
    let mut service = tool(["simulate", "--speed", "10000", "--order", "Shoes", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(service.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let started = next();
    assert_eq!((&started["api_key"], &started["speed"]), (&"sk-simulator".into(), &10_000.into()));
    let job = next()["ordered"].as_str().unwrap().to_owned();

    let got = tool(["get", &job, "--wait", "--json", "--url", started["url"].as_str().unwrap()])
        .env("ARTICLE_API_KEY", "sk-simulator")
        .output()
        .unwrap();
    let (exit, out, error) = seen(&got);
    assert_eq!((exit, &*error), (Some(0), ""));
    let article: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(article["job_id"], *job);

    interrupt(&service);
    assert_eq!(service.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_command_that_waits_for_input_ends_at_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("inbox.db");
    sample::inbox(&file).await;
    let mut import = tool(["inbox", "import", text(&file)])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = import.stdin.take().unwrap();
    // An empty line is left out; when it is taken, the import reads.
    input.write_all(b"\n").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    interrupt(&import);
    let status = import.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let mut error = String::new();
    import.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    drop(input);
}
